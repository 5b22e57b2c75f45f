import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CsvMapping, chunkCsv } from './csv-lines.js';
import type { RefusedRow } from './csv-records.js';
import { findNumberColumns } from './find-number-columns.js';
import { readTimeNs, type TimeFormat } from './time-text.js';

const MAPPING: CsvMapping = {
  table: 'air',
  tags: ['room'],
  fields: new Map(),
  time: 'at',
  timeFormat: 'auto',
};

async function convert(csv: string, mapping: Partial<CsvMapping> = {}, pieceSize = Infinity) {
  const refused: RefusedRow[] = [];
  const parts = async function* () {
    const bytes = Buffer.from(csv);
    for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.subarray(at, at + pieceSize);
  };
  let lines = '';
  const refuse = ({ line, message }: RefusedRow) => refused.push({ line, message });
  const all = chunkCsv(parts(), { ...MAPPING, ...mapping }, 1000, refuse);
  for await (const { bytes } of all) lines += Buffer.from(bytes).toString();
  return { lines, refused };
}

describe('chunkCsv', () => {
  it('turns columns into tags, typed fields and time, and omits empty cells', async () => {
    const { lines, refused } = await convert(
      'at,room,temp,ok,note\n2024-12-30T08:00:00Z,Living room,21.5,true,"a ""b"", c"\n1735549200,,22,false,\n',
    );
    assert.equal(
      lines,
      'air,room=Living\\ room temp=21.5,ok=t,note="a \\"b\\", c" 1735545600000000000\n' +
        'air temp=22,ok=f 1735549200000000000\n',
    );
    assert.deepEqual(refused, []);
  });

  it('reports the line of a row that does not fit its types and keeps the other rows', async () => {
    const { lines, refused } = await convert(
      'at,room,n\n1,"two\nlines",5\n2,b,x\n3,"c\\,d",7\nnever,d,8\n4,e,\n',
      { fields: new Map([['n', 'int']]) },
    );
    assert.equal(lines, 'air,room=c\\\\\\,d n=7i 3000000000\n');
    assert.deepEqual(refused, [
      { line: 2, message: "column 'room': a tag cannot contain a tab or a newline" },
      { line: 4, message: "column 'n': 'x' is not a valid int" },
      {
        line: 6,
        message:
          "column 'at': 'never' is not a date such as 2024-12-30T08:00:00Z, 2024-12-30 08:00:00 or 2024-12-30, or an integer (s, ms, us or ns since 1970)",
      },
      { line: 7, message: 'the row has no field value' },
    ]);
  });

  it('rejects a row with too many values and accepts trailing separators', async () => {
    const { lines, refused } = await convert(
      'at,room,n\n1,a,1,2\n2,a,1,,\n3,a,1,,""\n4,a\n5,a,2\n',
    );
    assert.equal(lines, 'air,room=a n=1 2000000000\nair,room=a n=2 5000000000\n');
    assert.deepEqual(refused, [
      { line: 2, message: 'the row has 4 values for 3 columns' },
      { line: 4, message: 'the row has 5 values for 3 columns' },
      { line: 5, message: 'the row has no field value' },
    ]);
  });

  it('rejects a line with an unclosed quote, or text after a closing quote, and continues with the next', async () => {
    const text = 'text after a closing quote';
    const open = 'unclosed quote';
    const rows = (...numbers: number[]) =>
      numbers.map((n) => `air,room=r s="${n}" ${n}000000000\n`).join('');
    const cases: readonly (readonly [string, string, readonly RefusedRow[]])[] = [
      ['1,r,"a"b\n2,r,2\n', rows(2), [{ line: 2, message: text }]],
      ['1,"r" ,1\r\n2,r,2\r\n', rows(2), [{ line: 2, message: text }]],
      ['1,r,"a\n2,r,2\n3,r,3', rows(2, 3), [{ line: 2, message: open }]],
      ['1,r,"a\n2,r,"2"\n3,r,3\n', rows(2, 3), [{ line: 2, message: open }]],
      ['1,r,"a', '', [{ line: 2, message: open }]],
      ['1,r,1\n2,r,"a\n', rows(1), [{ line: 3, message: open }]],
      [
        '1,r,"a\n2,r,"b\n3,r,3\n',
        rows(3),
        [
          { line: 2, message: open },
          { line: 3, message: open },
        ],
      ],
      ['1,r,"1"\n2,r,5" wide\n', `${rows(1)}air,room=r s="5\\" wide" 2000000000\n`, []],
    ];
    for (const [csv, lines, refused] of cases) {
      for (const pieceSize of [1, 7, Infinity]) {
        const mapping = { fields: new Map([['s', 'string']] as const) };
        const found = await convert(`at,room,s\n${csv}`, mapping, pieceSize);
        assert.deepEqual(found, { lines, refused }, JSON.stringify(csv));
      }
    }
    await assert.rejects(convert('at,"room,n\n1,a,1\n'), {
      name: 'CsvFault',
      message: 'line 1: unclosed quote',
    });
  });

  it('reads columns separated by semicolons or tabs', async () => {
    const semicolons = await convert('\uFEFFat;room;n\n1;"a;b";2\n2;c,d;3\n');
    assert.deepEqual(semicolons, {
      lines: 'air,room=a;b n=2 1000000000\nair,room=c\\,d n=3 2000000000\n',
      refused: [],
    });
    const { lines } = await convert('\n"at"\troom\tn\n1\ta;b,c\t2\n', {}, 3);
    assert.equal(lines, 'air,room=a;b\\,c n=2 1000000000\n');
  });

  it('lists the existing columns when a column is missing', async () => {
    await assert.rejects(convert('a,b\n1,2\n'), {
      name: 'CsvFault',
      kind: 'no_such_column',
      message: "column 'room' not found in the CSV file; columns: a, b",
    });
  });

  it('keeps every digit of an integer', async () => {
    const { lines } = await convert('at,room,n,u\n1,,9223372036854775807,18446744073709551615\n', {
      fields: new Map([
        ['n', 'int'],
        ['u', 'uint'],
      ]),
    });
    assert.equal(lines, 'air n=9223372036854775807i,u=18446744073709551615u 1000000000\n');
  });
});

describe('chunks', () => {
  const chunksOf = async (csv: string, chunkSizeBytes: number) => {
    const parts = async function* () {
      yield Buffer.from(csv);
    };
    const found: (readonly [text: string, points: number, line: number])[] = [];
    for await (const { bytes, pointCount, fileLineOf } of chunkCsv(
      parts(),
      { table: 'm', tags: [], fields: new Map([['s', 'string']]), time: 't', timeFormat: 'ns' },
      chunkSizeBytes,
      () => {},
    ))
      found.push([Buffer.from(bytes).toString(), pointCount, fileLineOf(1)]);
    return found;
  };

  it('limits chunks by bytes rather than characters', async () => {
    const csv = 't,s\n1,ü€\n2,😀\n3,c\n';
    const lines = ['m s="ü€" 1\n', 'm s="😀" 2\n', 'm s="c" 3\n'];
    const sizes = lines.map((line) => Buffer.byteLength(line));
    assert.deepEqual(sizes, [14, 13, 10]);
    assert.deepEqual(await chunksOf(csv, 27), [
      [lines.slice(0, 2).join(''), 2, 2],
      [lines[2], 1, 4],
    ]);
    assert.deepEqual(
      (await chunksOf(csv, 26)).map(([, count]) => count),
      [1, 2],
    );
    assert.deepEqual(await chunksOf(csv, 37), [[lines.join(''), 3, 2]]);
  });

  it('puts a line longer than the limit into a chunk of its own', async () => {
    assert.deepEqual(await chunksOf('t,s\n1,a\n2,bbbbbbbbbb\n3,c\n', 12), [
      ['m s="a" 1\n', 1, 2],
      ['m s="bbbbbbbbbb" 2\n', 1, 3],
      ['m s="c" 3\n', 1, 4],
    ]);
  });

  it('counts rows with fewer values than column names', async () => {
    const csv = 't,s,u,\n1,a\n2,b,c\n3\n4,d,,\n5,e\n';
    const parts = async function* () {
      yield Buffer.from(csv);
    };
    const mapping = {
      ...{ table: 'm', tags: [], fields: new Map([['s', 'string']] as const) },
      ...{ time: 't', timeFormat: 'ns' as const },
    };
    for await (const { pointCount, shortCount } of chunkCsv(parts(), mapping, 1000, () => {})) {
      assert.deepEqual([pointCount, shortCount], [4, 2], 'the third is refused');
    }
  });

  it('maps lines to the file after rows that span several lines', async () => {
    const parts = async function* () {
      yield Buffer.from('t,s\n1,"a\nb"\n2,c\n');
    };
    const mapping = {
      ...{ table: 'm', tags: [], fields: new Map([['s', 'string']] as const) },
      ...{ time: 't', timeFormat: 'ns' as const },
    };
    for await (const { fileLineOf } of chunkCsv(parts(), mapping, 1000, () => {})) {
      assert.deepEqual([1, 2, 3, 4].map(fileLineOf), [2, 2, 4, 0]);
    }
  });
});

it('findNumberColumns checks every value of a column', async () => {
  const parts = async function* () {
    yield Buffer.from('\uFEFFa,b,c,d,e\n1,1,9223372036854775808,x,\n2,2.5,1,3,\n');
  };
  assert.deepEqual(
    await findNumberColumns(parts()),
    new Map([
      ['a', 'int'],
      ['b', 'float'],
      ['c', 'uint'],
    ]),
  );
});

describe('An invalid CSV file', () => {
  it('is rejected for bytes that text cannot contain', async () => {
    await assert.rejects(convert('\x89PNG\r\n\x1A\n\0\0\0\rIHDR'), {
      ...{
        name: 'CsvFault',
        kind: 'bad_csv',
        message: 'the file contains NUL characters; use a text file',
      },
    });
  });

  /** Stops when the reader stops, so the number of bytes sent shows how far it read. */
  async function refusal(head: string, more: string): Promise<string> {
    let sentBytes = 0;
    const endless = async function* () {
      yield Buffer.from(head);
      for (;;) {
        sentBytes += more.length;
        assert.ok(sentBytes < 16 * 1024 * 1024, 'it is read on and on');
        yield Buffer.from(more);
      }
    };
    const all = chunkCsv(endless(), MAPPING, 1000, () => {});
    const reading = (async () => {
      for await (const _ of all);
    })();
    return await reading.then(
      () => '',
      (error: Error) => error.message,
    );
  }

  it('is read only up to the limit it exceeds, and the error names the line', async () => {
    const block = 'x'.repeat(65_536);
    assert.equal(
      await refusal('at,room,n\n1,a,2\n3,b,', block),
      'line 3: a value is longer than 4194304 characters',
    );
    assert.equal(
      await refusal('at,room,n\n1,a,2\n3,"b', 'x\n'.repeat(30_000)),
      'line 3: a value is longer than 4194304 characters; check for an unclosed quote',
    );
    assert.equal(
      await refusal('at,room,n\n', `${'x'.repeat(10_000)},`.repeat(10)),
      'line 2: the row is longer than 10485760 characters',
    );
    assert.equal(
      await refusal('at,room', ',n'.repeat(1000)),
      'line 1: the row has more than 10000 values',
    );
    assert.equal(
      await refusal('at,room,n\n1,a', ','.repeat(1000)),
      'line 2: the row has more than 10000 values',
    );
  });
});

it('reads a file only a few times, however many quotes are unclosed', async () => {
  const line = `,${'x'.repeat(2000)}","y\n`;
  await assert.rejects(convert(`at,room,n\n${line.repeat(4500)}`), {
    name: 'CsvFault',
    message: /^line \d: too many unclosed quotes$/,
  });
  const { refused } = await convert(`at,room,n\n${'1,r,"a\n'.repeat(100_000)}`);
  assert.equal(refused.length, 100_000);
});

it('reads times to the nanosecond', () => {
  const check = (text: string, format: TimeFormat, timeNs: bigint | undefined) =>
    assert.equal(readTimeNs(text, format), timeNs, `${text} ${format}`);
  check('2012-01-01', 'auto', 1_325_376_000_000_000_000n);
  check('2012/01/01', 'auto', 1_325_376_000_000_000_000n);
  check('1970-01-01 00:00', 'rfc3339', 0n);
  check('1970-01-01T00:00:01.000000001Z', 'rfc3339', 1_000_000_001n);
  check('1970-01-01T01:00:00+01:00', 'rfc3339', 0n);
  check('1969-12-31T23:59:59.5Z', 'rfc3339', -500_000_000n);
  check('2012-02-30', 'auto', undefined);
  check('4999999999', 'auto', 4_999_999_999_000_000_000n);
  check('5000000000', 'auto', 5_000_000_000_000_000n);
  check('-1', 'ms', -1_000_000n);
  check('1.5', 's', undefined);
});
