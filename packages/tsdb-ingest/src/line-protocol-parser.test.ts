import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ParsedBody, ParsedTable, Precision } from '@plinth/tsdb-model/parsed-body.js';
import { tagSetsOf } from '@plinth/tsdb-model/series/new-series.js';
import { LineProtocolParser } from './line-protocol-parser.js';
import { DEFAULT_LIMITS } from './parser-dictionary.js';

const RECEIVED_NS = 1_735_549_200_123_456_789n;

function parse(text: string | Uint8Array, precision: Precision = 'nanosecond'): ParsedBody {
  const body = typeof text === 'string' ? Buffer.from(text) : text;
  return new LineProtocolParser().parse(body, {
    database: 'db',
    precision,
    receivedNs: RECEIVED_NS,
  });
}

function onlyTable(body: ParsedBody): ParsedTable {
  const [table, ...others] = body.tables;
  assert.deepEqual(body.refused, []);
  assert.ok(table !== undefined && others.length === 0);
  return table;
}

/** Rows of a table as plain objects. */
function rowsOf(table: ParsedTable): Record<string, unknown>[] {
  return Array.from({ length: table.rowCount }, (_, row) => {
    const out: Record<string, unknown> = { time: table.times[row] };
    for (const { name, data, validity } of table.fields) {
      if (validity !== undefined && ((validity[row >> 3] ?? 0) & (1 << (row & 7))) === 0) continue;
      if (data.type === 'utf8') {
        const text = data.bytes.subarray(data.offsets[row], data.offsets[row + 1]);
        out[name] = Buffer.from(text).toString();
      } else out[name] = data.type === 'bool' ? data.values[row] === 1 : data.values[row];
    }
    return out;
  });
}

const one = (text: string, precision?: Precision) => rowsOf(onlyTable(parse(text, precision)))[0];
const tagsOf = (text: string) => tagSetsOf(onlyTable(parse(text)).newSeries);
const fieldOf = (text: string) => one(`m f=${text} 1`)?.['f'];
const messageOf = (text: string, precision?: Precision) => {
  const body = parse(text, precision);
  assert.equal(body.tables.length, 0, text);
  assert.equal(body.refusedCount, 1, text);
  return body.refused[0]?.message;
};

describe('messages of refused lines', () => {
  const long = 'x'.repeat(1_048_577);
  const cases: [string, string][] = [
    ['measurement', 'Expected at least one space character, got end of input'],
    ['m\tf=1 5', 'Expected at least one space character, got `\tf=1 5`'],
    [',tag=1 f=1', 'Invalid measurement was provided'],
    ['\0 f=1', 'Invalid measurement was provided'],
    ['foo 1234', 'No fields were provided'],
    ['m f=hi', 'No fields were provided'],
    ['m f=', 'No fields were provided'],
    ['field=1 1234', 'No fields were provided'],
    ['m v=.5 1', 'No fields were provided'],
    ['m v=+5 5', 'No fields were provided'],
    ['m v=NaN', 'No fields were provided'],
    ['m v=Inf', 'No fields were provided'],
    ['m v="open', 'No fields were provided'],
    ['J,#', 'Tag set malformed: could not find equals sign in `#`'],
    ['m,t v=1 5', 'Tag set malformed: could not find equals sign in `t v=1 5`'],
    [`J,${'a'.repeat(200)}`, 'Tag set malformed: could not find equals sign in `aaaaaaaaaa...`'],
    ['J,', 'Expected tag key, got end of input'],
    ['t, bar=1i', 'Expected tag key, got ` bar=1i`'],
    ['m,=a v=1 5', 'Expected tag key, got `=a v=1 5`'],
    ['0,,=', 'Expected tag value, got end of input'],
    ['t,foo= sed=1i', 'Expected tag value, got ` sed=1i`'],
    ['t,foo=,baz=x f=1', 'Expected tag value, got `,baz=x f=1`'],
    ['t,foo=,baz= bar=1i', 'Expected tag value, got `,baz= bar=...`'],
    ['m f=1i,baz=', 'Could not parse entire line. Found trailing content: `baz=`'],
    ['m v=1,w= 5', 'Could not parse entire line. Found trailing content: `w= 5`'],
    ['m v=1,w=2,x=3,y= 5', 'Could not parse entire line. Found trailing content: `,y= 5`'],
    ['m f=1 abc', 'Could not parse entire line. Found trailing content: ` abc`'],
    [
      'm v=1 abcdefghijklmnop',
      'Could not parse entire line. Found trailing content: ` abcdefghi...`',
    ],
    ['m v=1 ääääääääääää', 'Could not parse entire line. Found trailing content: ` äääääääää...`'],
    ['m v=1 100 200', 'Could not parse entire line. Found trailing content: `200`'],
    ['m v=1 1.5', 'Could not parse entire line. Found trailing content: `.5`'],
    ['m f=1.', 'Could not parse entire line. Found trailing content: `.`'],
    ['m v=5. 2', 'Could not parse entire line. Found trailing content: `. 2`'],
    ['m v=1e 5', 'Could not parse entire line. Found trailing content: `e 5`'],
    ['m v=tRUE 5', 'Could not parse entire line. Found trailing content: `RUE 5`'],
    ['m f=-1u', 'Could not parse entire line. Found trailing content: `u`'],
    ['m v=1\t5', 'Could not parse entire line. Found trailing content: `\t5`'],
    ['m f=1\r\r\n', 'Could not parse entire line. Found trailing content: `\r`'],
    ['m f=99999999999999999999i', 'Unable to parse integer value `99999999999999999999`'],
    ['m f=9223372036854775808i', 'Unable to parse integer value `9223372036854775808`'],
    ['m f=-9223372036854775809i', 'Unable to parse integer value `-9223372036854775809`'],
    ['m f=18446744073709551616u', 'Unable to parse unsigned integer value `18446744073709551616`'],
    ['m f=1 9223372036854775808', 'Unable to parse timestamp value `9223372036854775808`'],
    ['m f=1,f=2 5', "invalid line protocol - multiple instances of 'f' field found"],
    ['m f=1,f=2i 5', "invalid line protocol - multiple instances of 'f' field found"],
    ['m,t=1,t=2 f=1', "invalid line protocol - multiple instances of 't' tag found"],
  ];
  const ending = 'Measurements, tag keys and values, and field keys may not end with a backslash';
  for (const line of ['m\\', 'm\\\\ f=1', 'm,t\\\\=1 f=1', 'm,t=a\\', 'm,t=a\\\\\\', 'm f\\\\=1']) {
    cases.push([line, ending]);
  }
  for (const line of [`${long} f=1`, `m,${long}=1 f=1`, `m,t=${long} f=1`, `m ${long}=1`]) {
    cases.push([line, 'String is greater than 1MB']);
  }
  cases.push([`m f="${long}"`, 'String is greater than 1MB']);

  it('are the documented texts', () => {
    for (const [line, message] of cases) assert.equal(messageOf(line), message, line.slice(0, 80));
  });

  it('are the same after a valid line of the same series and fields', () => {
    for (const [line, message] of cases) {
      const body = parse(`m,t=1 v=1,f=2 5\nm v=1,f=1,w=2,x=3 5\n${line}`);
      assert.deepEqual([body.refused[0]?.message, body.refused[0]?.lineNumber], [message, 3]);
      assert.deepEqual([body.lineCount, body.tables[0]?.rowCount], [3, 2]);
    }
  });

  it('report a timestamp that exceeds 64 bits in its precision', () => {
    const text = (size: string, name: string) =>
      `timestamp, ${size}, out of range for precision: ${name}`;
    assert.equal(messageOf('m f=1 9223372037', 'second'), text('9223372037', 'Second'));
    assert.equal(
      messageOf('m f=1 -9223372036855', 'millisecond'),
      text('-9223372036855', 'Millisecond'),
    );
    assert.equal(messageOf('m f=1 2562048', 'hour'), text('2562048', 'Hour'));
    for (const size of ['9223372036854775807', '-9223372036854775807', '-9223372036854775808']) {
      assert.equal(messageOf(`m f=1 ${size}`, 'nanosecond'), text(size, 'Nanosecond'));
      assert.equal(messageOf(`m f=1 ${size}`, 'auto'), text(size, 'Auto'));
    }
  });
});

describe('values', () => {
  it('keep every bit of integers', () => {
    for (const value of [
      0n,
      7n,
      -1n,
      999_999_999n,
      1_000_000_000n,
      4_294_967_296n,
      2n ** 53n + 1n,
    ]) {
      assert.equal(fieldOf(`${value}i`), value);
      if (value >= 0n) assert.equal(fieldOf(`${value}u`), value);
    }
    assert.equal(fieldOf('9223372036854775807i'), 2n ** 63n - 1n);
    assert.equal(fieldOf('-9223372036854775808i'), -(2n ** 63n));
    assert.equal(fieldOf('18446744073709551615u'), 2n ** 64n - 1n);
    assert.equal(fieldOf('000000000000000000000000000012i'), 12n);
  });

  it('accept every notation of a float', () => {
    assert.equal(fieldOf('1'), 1);
    assert.equal(fieldOf('-1.5'), -1.5);
    assert.equal(fieldOf('1e3'), 1000);
    assert.equal(fieldOf('-2.5E-3'), -0.0025);
    assert.equal(fieldOf('1.25e+2'), 125);
    assert.equal(fieldOf('1e400'), Infinity);
    assert.ok(Object.is(fieldOf('-0'), -0));
    assert.ok(Object.is(fieldOf('-0.0'), -0));
    assert.equal(fieldOf('9007199254740993'), 9007199254740992);
  });

  it('read strings with their two escapes and leave the rest unchanged', () => {
    assert.equal(fieldOf('""'), '');
    assert.equal(fieldOf('"a b,c=d"'), 'a b,c=d');
    assert.equal(fieldOf('"a\\"b\\\\c\\nd"'), 'a"b\\c\\nd');
    assert.equal(fieldOf('"ü\n\r\n€"'), 'ü\n\r\n€');
    assert.equal(fieldOf('"# no comment"'), '# no comment');
  });

  it('accept exactly the documented boolean literals', () => {
    for (const word of ['t', 'T', 'true', 'True', 'TRUE']) assert.equal(fieldOf(word), true);
    for (const word of ['f', 'F', 'false', 'False', 'FALSE']) assert.equal(fieldOf(word), false);
  });

  it('leave a cleared bit where a row lacks a field', () => {
    const rows = rowsOf(onlyTable(parse('m a=1i 1\nm b="x" 2\nm a=3i,b="y" 3\nm c=t 4\nm a=5i 5')));
    assert.deepEqual(rows, [
      { time: 1n, a: 1n },
      { time: 2n, b: 'x' },
      { time: 3n, a: 3n, b: 'y' },
      { time: 4n, c: true },
      { time: 5n, a: 5n },
    ]);
  });

  it('appear once per type if lines have different types', () => {
    const { fields } = onlyTable(parse('m a=1i 1\nm a=2 2\nm b=1,a=3i 3'));
    assert.deepEqual(
      fields.map((field) => [field.name, field.data.type, field.validity?.[0]]),
      [
        ['a', 'int64', 0b101],
        ['a', 'float64', 0b010],
        ['b', 'float64', 0b100],
      ],
    );
  });
});

describe('names and tags', () => {
  it('lose the backslash only before a character that needs it', () => {
    const table = onlyTable(
      parse('m\\,\\ \\\\x\\=,k\\ \\,\\=\\\\\\x=v\\ \\,\\=\\\\\\y f\\ \\,\\=\\z=1 5'),
    );
    assert.equal(table.table, 'm, \\x\\=');
    assert.deepEqual(tagSetsOf(table.newSeries), [
      { tagKeys: ['k ,=\\\\x'], tagValues: ['v ,=\\\\y'] },
    ]);
    assert.equal(table.fields[0]?.name, 'f ,=\\z');
  });

  it('end a tag value in a backslash when it is escaped', () => {
    const cases: readonly (readonly [line: string, keys: string[], values: string[]])[] = [
      ['win,disk=D:\\\\ f=1 5', ['disk'], ['D:\\']],
      ['win,disk=D:\\\\,host=a f=1 5', ['disk', 'host'], ['D:\\', 'a']],
      ['win,disk=\\\\ f=1', ['disk'], ['\\']],
      ['win,disk=D:\\\\\\\\ f=1', ['disk'], ['D:\\\\']],
      // An odd number of backslashes still escapes the separator.
      ['win,disk=D:\\,host=a f=1', ['disk'], ['D:,host=a']],
      ['win,disk=D:\\ f=1 f=1', ['disk'], ['D: f=1']],
      ['win,disk=D:\\\\\\,a,host=b f=1', ['disk', 'host'], ['D:\\,a', 'b']],
    ];
    for (const [line, tagKeys, tagValues] of cases) {
      assert.deepEqual(tagsOf(line), [{ tagKeys, tagValues }], line);
    }
    // The same after a line of the same series, whose string is then known.
    assert.equal(tagsOf('win,disk=D:\\\\ f=1 5\nwin,disk=D:\\\\ f=2 6').length, 1);
  });

  it('keep quotes, equals signs, commas and Unicode where the grammar allows them', () => {
    assert.deepEqual(tagsOf('m=x,a="q",b=x=y f=1'), [
      { tagKeys: ['a', 'b'], tagValues: ['"q"', 'x=y'] },
    ]);
    assert.deepEqual(tagsOf('m,,k=1 f=1'), [{ tagKeys: [',k'], tagValues: ['1'] }]);
    assert.deepEqual(tagsOf('m,größe=\u{1f600} f=1'), [
      { tagKeys: ['größe'], tagValues: ['\u{1f600}'] },
    ]);
    assert.deepEqual(one('m a,b=1 5'), { time: 5n, 'a,b': 1 });
    assert.deepEqual(one('m a=1, 5'), { time: 5n, a: 1 });
  });

  it('number series densely in the order of their first line', () => {
    const table = onlyTable(parse('m,h=a f=1 1\nm,h=b f=1 1\nm,h=a f=2 2\nm f=1 1\nm,h=b f=1 2'));
    assert.deepEqual([...table.seriesNumbers], [0, 1, 0, 2, 1]);
    assert.deepEqual(
      tagSetsOf(table.newSeries).map((series) => series.tagValues),
      [['a'], ['b'], []],
    );
  });

  it('distinguish tables and report only new series', () => {
    const parser = new LineProtocolParser();
    const options = { database: 'db', precision: 'second', receivedNs: RECEIVED_NS } as const;
    const first = parser.parse(Buffer.from('a,h=1 f=1\nb,h=1 f=1\na,h=2 f=1'), options);
    const second = parser.parse(Buffer.from('b,h=1 f=1\nb,h=3 f=1'), options);
    const other = parser.parse(Buffer.from('b,h=1 f=1'), { ...options, database: 'other' });
    assert.deepEqual(
      first.tables.map((t) => [t.table, t.parserTable, ...t.seriesNumbers]),
      [
        ['a', 0, 0, 1],
        ['b', 1, 0],
      ],
    );
    assert.deepEqual(
      second.tables.map((t) => [t.parserTable, t.firstNewSeries, ...t.seriesNumbers]),
      [[1, 1, 0, 1]],
    );
    assert.deepEqual(
      other.tables.map((t) => [t.parserTable, ...t.seriesNumbers]),
      [[2, 0]],
    );
    assert.deepEqual(tagSetsOf(second.tables[0]?.newSeries), [
      { tagKeys: ['h'], tagValues: ['3'] },
    ]);
  });

  it('are renumbered in a new epoch when the parser stores too many', () => {
    const parser = new LineProtocolParser({
      ...DEFAULT_LIMITS,
      maxSeriesCount: 2,
      maxSizeBytes: 1 << 20,
      maxCells: 5000,
    });
    const options = { database: 'db', precision: 'second', receivedNs: RECEIVED_NS } as const;
    const epochs = ['m,h=1 f=1\nm,h=2 f=1', 'm,h=3 f=1', 'm,h=3 f=1'].map((text) => {
      const body = parser.parse(Buffer.from(text), options);
      return [body.epoch, body.tables[0]?.firstNewSeries, body.tables[0]?.newSeries?.count];
    });
    assert.deepEqual(epochs, [
      [0, 0, 2],
      [0, 2, 1],
      [1, 0, 1],
    ]);
  });

  it('are discarded with a rejected line', () => {
    const body = parse('m,h=1 f=1 1\nm,h=2 g=1,f=2 x\nn,h=3 f=');
    const table = body.tables[0];
    assert.deepEqual([body.tables.length, body.refusedCount, table?.newSeries?.count], [1, 2, 1]);
    assert.deepEqual(
      table?.fields.map((field) => field.name),
      ['f'],
    );
  });
});

describe('timestamps', () => {
  const timeOf = (text: string, precision: Precision) => one(`m f=1 ${text}`, precision)?.['time'];

  it('are read in the unit of the request', () => {
    const check = (text: string, precision: Precision, timeNs: bigint) =>
      assert.equal(timeOf(text, precision), timeNs, `${text} ${precision}`);
    check('1', 'hour', 3_600_000_000_000n);
    check('-1', 'minute', -60_000_000_000n);
    check('1735689600', 'second', 1_735_689_600_000_000_000n);
    check('-1', 'millisecond', -1_000_000n);
    check('1735689600123456', 'microsecond', 1_735_689_600_123_456_000n);
    check('1735689600123456789', 'nanosecond', 1_735_689_600_123_456_789n);
    check('9223372036854775806', 'nanosecond', 2n ** 63n - 2n);
    check('-9223372036854775806', 'nanosecond', -(2n ** 63n) + 2n);
    check('9223372036', 'second', 9_223_372_036_000_000_000n);
  });

  it('have a unit derived from their size with auto precision', () => {
    const check = (text: string, timeNs: bigint) =>
      assert.equal(timeOf(text, 'auto'), timeNs, text);
    check('4999999999', 4_999_999_999_000_000_000n);
    check('-4999999999', -4_999_999_999_000_000_000n);
    check('5000000000', 5_000_000_000_000_000n);
    check('4999999999999', 4_999_999_999_999_000_000n);
    check('5000000000000', 5_000_000_000_000_000n);
    check('4999999999999999', 4_999_999_999_999_999_000n);
    check('5000000000000000', 5_000_000_000_000_000n);
    check('0', 0n);
  });

  it('default to the arrival time, truncated to the precision', () => {
    assert.equal(one('m f=1', 'auto')?.['time'], RECEIVED_NS);
    assert.equal(one('m f=1   ', 'second')?.['time'], 1_735_549_200_000_000_000n);
    assert.equal(one('m f=1', 'microsecond')?.['time'], 1_735_549_200_123_456_000n);
    assert.equal(one('m f=1', 'hour')?.['time'], 1_735_549_200_000_000_000n);
  });
});

describe('lines', () => {
  it('are numbered by newlines; the count excludes blank lines and comments', () => {
    const body = parse('# c\n\n \t \r\nm s="a\nb" 1\r\n  # c "\nbad\n  bad two\r\nm f=1 2');
    assert.equal(body.lineCount, 4);
    assert.deepEqual([...(body.tables[0]?.lineNumbers ?? [])], [4, 9]);
    assert.deepEqual(
      body.refused.map((line) => [line.lineNumber, line.originalLine]),
      [
        [7, 'bad'],
        [8, '  bad two'],
      ],
    );
  });

  it('keep their byte range', () => {
    const text = 'm f=1 1\n  m s="x\ny" 2\r\nm f=3 3';
    const table = onlyTable(parse(text));
    const cut = Array.from(table.lineStarts, (start, i) => text.slice(start, table.lineEnds[i]));
    assert.deepEqual(cut, ['m f=1 1', '  m s="x\ny" 2', 'm f=3 3']);
  });

  it('continue after an escaped newline', () => {
    assert.deepEqual(tagsOf('m,t=a\\\nb f=1'), [{ tagKeys: ['t'], tagValues: ['a\\\nb'] }]);
  });

  it('are quoted up to 1024 bytes when rejected, cut at a character boundary', () => {
    const [line] = parse(`x${'ä'.repeat(600)}`).refused;
    assert.equal(line?.originalLine, `x${'ä'.repeat(511)}`);
  });

  it('are listed up to a limit when rejected, and counted beyond it', () => {
    const body = parse('bad\n'.repeat(1500));
    assert.deepEqual([body.refused.length, body.refusedCount, body.lineCount], [1000, 1500, 1500]);
  });

  it('are zero in an empty body', () => {
    for (const text of ['', '\n\n', '# only\n#comments', ' \t\r\n']) {
      assert.deepEqual([parse(text).lineCount, parse(text).tables.length], [0, 0]);
    }
  });
});

describe('limits', () => {
  const options = { database: 'db', precision: 'second', receivedNs: RECEIVED_NS } as const;
  const limits = { ...DEFAULT_LIMITS, maxSeriesCount: 1000, maxSizeBytes: 1 << 20, maxCells: 5000 };

  it('reject lines that would make columns far larger than the body', () => {
    const parser = new LineProtocolParser(limits);
    const text = Array.from({ length: 200 }, (_, i) => `m,h=${i} f${i}=1 ${i}`).join('\n');
    for (const _pass of ['unknown names', 'known names']) {
      const body = parser.parse(Buffer.from(text), options);
      const rowCount = body.tables[0]?.rowCount ?? 0;
      assert.equal(rowCount + body.refusedCount, 200);
      assert.ok(rowCount >= 10 && rowCount < 200, `${rowCount} rows`);
      assert.equal(body.tables[0]?.fields.length, rowCount);
      assert.equal(body.refused[0]?.reason, 'limit');
      assert.match(body.refused[0]?.message ?? '', /too many different tables or fields/);
    }
  });

  it('apply to each body separately', () => {
    const parser = new LineProtocolParser(limits);
    for (let i = 0; i < 100; i++) {
      const body = parser.parse(Buffer.from(`m f${i}=1i,g="x"\nn f=t`), options);
      assert.deepEqual([body.tables.length, body.refusedCount], [2, 0]);
    }
  });

  it('keep lines with many tags or fields fast', () => {
    const pairs = Array.from({ length: 20_000 }, (_, i) => `k${i}=${i}`).join(',');
    const fields = pairs.replaceAll('k', 'f');
    const body = parse(`m f0=1\nm,${pairs} f0=1\nm ${fields}\nm ${fields} bad\nm ${fields}`);
    assert.deepEqual([body.tables[0]?.rowCount, body.refusedCount], [4, 1]);
    assert.equal(tagSetsOf(body.tables[0]?.newSeries)[1]?.tagKeys.length, 20_000);
  });

  it('of columns stop parsing at the first extra column', () => {
    const line = { columnCount: 3, tagCount: 2 };
    const parser = new LineProtocolParser({ ...DEFAULT_LIMITS, line });
    const check = (text: string, message: string | undefined, isLimit = true) => {
      for (const _pass of ['unknown names', 'known names']) {
        const { refused } = parser.parse(Buffer.from(`${text}\n`), options);
        const told = refused.map((one) => [one.message, one.reason === 'limit']);
        assert.deepEqual(told, message === undefined ? [] : [[message, isLimit]], text);
      }
    };
    const columns = 'Update to schema would exceed number of columns per table limit of 3 columns';
    check('m,a=1,b=1 c=1', undefined);
    check('m c=1,d=1,e=1', undefined);
    check('m c=1,d=1,e=1,f=1', columns);
    check('m c=1,d=1,e=1,f=1,!', columns);
    check('m,a=1,b=1 c=1,d=1,', columns);
    check('m c=1,d=1,e=1,', 'Could not parse entire line. Found trailing content: `,`', false);
    const tags = 'Update to schema would exceed number of tag columns per table limit of 2 columns';
    check('m,a=1,b=1,c=1', tags);
    check('m,a=1,b=1,c=1,d=1 e', tags);
    const twice = (name: string, kind: string) =>
      `invalid line protocol - multiple instances of '${name}' ${kind} found`;
    check('m,a=1,b=1,a=1 c=1', twice('a', 'tag'), false);
    check('m c=1,d=1,e=1,c=1', twice('c', 'field'), false);
  });

  it('of digits reject a number before it is converted', () => {
    const parser = new LineProtocolParser();
    const check = (text: string, message: string | undefined) => {
      const { refused } = parser.parse(Buffer.from(text), options);
      assert.deepEqual(
        refused.map((one) => one.message),
        message === undefined ? [] : [message],
      );
    };
    check(`m a=1 ${'0'.repeat(30)}1`, undefined);
    check(`m a=-${'0'.repeat(30)}1i,b=${'0'.repeat(30)}1u 1`, undefined);
    const digits = '1'.repeat(21);
    check(`m a=1 ${digits}`, `Unable to parse timestamp value \`${digits}\``);
    check(`m a=${digits}i`, `Unable to parse integer value \`${digits}\``);
    check(`m a=${digits}u`, `Unable to parse unsigned integer value \`${digits}\``);
    const shown = `${'1'.repeat(1024)}...`;
    check(`m a=1 ${'1'.repeat(2_000_000)}`, `Unable to parse timestamp value \`${shown}\``);
  });
});

describe('UTF-8', () => {
  it('is validated, and the first invalid sequence is reported', () => {
    const bad = (bytes: number[], at: number, size: number) =>
      assert.throws(() => parse(Uint8Array.from(bytes)), {
        kind: 'body_not_utf8',
        message: `body content is not valid utf8: invalid utf-8 sequence of ${size} bytes from index ${at}`,
      });
    bad([109, 32, 255], 2, 1);
    bad([109, 0xc3, 0xa4, 0x80], 3, 1);
    bad([0xed, 0xa0, 0x80], 0, 1);
    bad([0xe2, 0x82, 0x41], 0, 2);
    bad([0xf0, 0x9f, 0x98, 0x41], 0, 3);
  });
});
