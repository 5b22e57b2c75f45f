// Source: tsdb-http, "Line protocol grammar": splitting, whitespace, names, field values.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  type OwnServer,
  query,
  refusal,
  rows,
  ServerInProcess,
  SharedServer,
  WRITE_APIS,
  write,
} from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
});
after(async () => await server.close());

const MAX_TEXT_BYTES = 1_048_576;
let dbCount = 0;

/** Writes the body through each write endpoint to a separate database, and compares all rows of `m`. */
async function assertRows(
  body: string | Uint8Array,
  expected: readonly unknown[],
  table = 'm',
): Promise<void> {
  for (const api of WRITE_APIS) {
    const db = `l${dbCount++}`;
    assertEmpty(await write(server, { api, db }, body));
    const q = `SELECT * FROM "${table.replaceAll('"', '""')}" ORDER BY time`;
    assert.deepEqual(await rows(server, db, q), expected, `${api}: ${body}`);
  }
}

const at = (ns: number) => `1970-01-01T00:00:00${ns === 0 ? '' : `.00000000${ns}`}`;

describe('lines', () => {
  it('L-01 end at a newline, and the last one needs none', async () => {
    const expected = [
      { f: 1, time: at(1) },
      { f: 2, time: at(2) },
    ];
    await assertRows('m f=1 1\nm f=2 2', expected);
    await assertRows('m f=1 1\nm f=2 2\n', expected);
    await assertRows('m f=1 1\r\nm f=2 2\r\n', expected);
  });

  it('L-01 may be indented, blank or comments', async () => {
    const body = '\n# first\n \t\n\t m f=1 1\n  # m f=9 9\n\r\n#m f=9 9\nm f=2 2\n\n';
    await assertRows(body, [
      { f: 1, time: at(1) },
      { f: 2, time: at(2) },
    ]);
  });

  it('L-01 go on behind a newline inside a string value', async () => {
    await assertRows('m s="a\nb\r\n# c",f=1 1\nm s="d" 2', [
      { f: 1, s: 'a\nb\r\n# c', time: at(1) },
      { s: 'd', time: at(2) },
    ]);
  });

  it('L-01 go on behind a backslash and a newline, and keep both', async () => {
    await assertRows('m,t=a\\\nb f=1 1', [{ f: 1, t: 'a\\\nb', time: at(1) }]);
  });

  it('L-01 end at a newline behind a quote that opens no string value', async () => {
    await assertRows('m,t="a f=1 1\nm,t=b" f=2 2', [
      { f: 1, t: '"a', time: at(1) },
      { f: 2, t: 'b"', time: at(2) },
    ]);
    await assertRows('m "f=1 1\nm "f=2 2', [
      { '"f': 1, time: at(1) },
      { '"f': 2, time: at(2) },
    ]);
    await assertRows('m a=1,"b=2 1\nm a=3 2', [
      { '"b': 2, a: 1, time: at(1) },
      { a: 3, time: at(2) },
    ]);
  });

  it('L-01 take any number of spaces between their parts and at their end', async () => {
    await assertRows('m   f=1   1  \nm,t=a  f=2 2', [
      { f: 1, time: at(1) },
      { f: 2, t: 'a', time: at(2) },
    ]);
  });

  it('L-01 may end with spaces and no time', async () => {
    const db = `l${dbCount++}`;
    assertEmpty(await write(server, { db }, 'm f=1  \nm f=2 \n'));
    assert.deepEqual(await rows(server, db, 'SELECT DISTINCT count(*) AS n FROM m'), [{ n: 1 }]);
  });

  it('L-01 may have a time before 1970 and no tags', async () => {
    await assertRows('m f=1 -1', [{ f: 1, time: '1969-12-31T23:59:59.999999999' }]);
  });
});

describe('names and tag values', () => {
  it('L-01 lose the backslash before a character that needs it', async () => {
    const body = 'a\\,b\\ c\\\\d,k\\,e\\=y\\ \\\\z=v\\,a\\=l\\ \\\\u f\\,i\\=e\\ \\\\l=1 1';
    const expected = { 'f,i=e \\l': 1, 'k,e=y \\z': 'v,a=l \\u', time: at(1) };
    await assertRows(body, [expected], 'a,b c\\d');
  });

  it('L-01 keep the backslash before any other character', async () => {
    await assertRows(
      'a\\=\\n,k\\n=v\\"\\t f\\n=1 1',
      [{ 'f\\n': 1, 'k\\n': 'v\\"\\t', time: at(1) }],
      'a\\=\\n',
    );
  });

  it('L-01 keep double quotes, which mean nothing there', async () => {
    await assertRows('"m",host="a" "f"="x" 1', [{ '"f"': 'x', host: '"a"', time: at(1) }], '"m"');
  });

  it('L-01 keep unescaped equals signs and commas where the grammar has no use for them', async () => {
    await assertRows('a=b,t=x=y f,g=1 1', [{ 'f,g': 1, t: 'x=y', time: at(1) }], 'a=b');
  });

  it('L-01 may be any text of Unicode', async () => {
    const body = 'wetter,stadt=Zürich,\u{1f3d4}=\u{1f600} größe="東京",\u00e9=1 1';
    await assertRows(
      body,
      [{ größe: '東京', stadt: 'Zürich', time: at(1), é: 1, '\u{1f3d4}': '\u{1f600}' }],
      'wetter',
    );
  });

  it('L-01 may hold a NUL, but not as the name of a table or outside a string', async () => {
    await assertRows('m,a\0b=c\0d e\0f=1,s="x\0y" 1', [
      { 'a\0b': 'c\0d', 'e\0f': 1, s: 'x\0y', time: at(1) },
    ]);
  });

  it('L-01 and string values may have 1 MiB, not a byte more', async () => {
    const long = 'x'.repeat(MAX_TEXT_BYTES);
    const db = `l${dbCount++}`;
    assertEmpty(await write(server, { db }, `m,t=${long} s="${long}" 1\n${long} f=1 1`));
    assertEmpty(await write(server, { db }, `n,${long}=1 f=1 1\no ${long}=1 1`));
    const lengths = 'SELECT length(t) AS t, length(s) AS s FROM m';
    assert.deepEqual(await rows(server, db, lengths), [{ t: MAX_TEXT_BYTES, s: MAX_TEXT_BYTES }]);
    const tooLong = [
      `${long}x f=1`,
      `m,${long}x=1 f=1`,
      `m,t=${long}x f=1`,
      `m ${long}x=1`,
      `m s="${long}x"`,
    ];
    for (const line of tooLong) {
      const response = await write(server, { db }, line);
      assert.equal(response.status, 400);
      const expected = refusal('write_lp', [
        {
          original_line: line.slice(0, 1024),
          line_number: 1,
          error_message: 'String is greater than 1MB',
        },
      ]);
      assert.deepEqual(JSON.parse(response.text), expected);
    }
  });
});

describe('field values', () => {
  /** Writes a value as field `f` and reads it back as CSV, which shows every digit. */
  async function assertValue(text: string, type: string, csv: string): Promise<void> {
    for (const api of WRITE_APIS) {
      const db = `l${dbCount++}`;
      assertEmpty(await write(server, { api, db }, `m f=${text} 1`));
      const described = await rows(server, db, 'DESCRIBE m');
      assert.deepEqual(
        described,
        [
          { column_name: 'f', data_type: type, is_nullable: 'YES' },
          { column_name: 'time', data_type: 'Timestamp(Nanosecond, None)', is_nullable: 'NO' },
        ],
        text,
      );
      const response = await query(server, { db, q: 'SELECT f FROM m', format: 'csv' });
      assert.equal(response, `f\n${csv}\n`, text);
    }
  }

  it('L-02 with i are signed integers of 64 bits', async () => {
    await assertValue('0i', 'Int64', '0');
    await assertValue('-0i', 'Int64', '0');
    await assertValue('007i', 'Int64', '7');
    await assertValue('9223372036854775807i', 'Int64', '9223372036854775807');
    await assertValue('-9223372036854775808i', 'Int64', '-9223372036854775808');
  });

  it('L-02 with u are unsigned integers of 64 bits', async () => {
    await assertValue('0u', 'UInt64', '0');
    await assertValue('18446744073709551615u', 'UInt64', '18446744073709551615');
  });

  it('L-02 are floats otherwise, with or without fraction and exponent', async () => {
    await assertValue('1', 'Float64', '1.0');
    await assertValue('-1.5', 'Float64', '-1.5');
    await assertValue('0.1', 'Float64', '0.1');
    await assertValue('1e3', 'Float64', '1000.0');
    await assertValue('1.25E+2', 'Float64', '125.0');
    await assertValue('-25e-1', 'Float64', '-2.5');
    await assertValue('9007199254740993', 'Float64', '9007199254740992.0');
    await assertValue('0.1000000000000000055511151231257827', 'Float64', '0.1');
  });

  it('L-02 that no float can hold are stored as infinity', async () => {
    const db = `l${dbCount++}`;
    assertEmpty(await write(server, { db }, 'm f=1e400 1\nm f=-1e400 2'));
    const q =
      "SELECT f = CAST('inf' AS DOUBLE) AS up, f = CAST('-inf' AS DOUBLE) AS down FROM m ORDER BY time";
    assert.deepEqual(await rows(server, db, q), [
      { up: true, down: false },
      { up: false, down: true },
    ]);
  });

  it('L-02 in quotes are strings with two escapes', async () => {
    const check = async (text: string, value: string) => {
      await assertRows(`m f=${text} 1`, [{ f: value, time: at(1) }]);
    };
    await check('""', '');
    await check('"a b,c=d"', 'a b,c=d');
    await check('"say \\"hi\\""', 'say "hi"');
    await check('"c:\\\\temp\\n\\,"', 'c:\\temp\\n\\,');
    await check('"# no comment"', '# no comment');
    await assertValue('"x"', 'Utf8', 'x');
  });

  it('L-02 of ten words are booleans', async () => {
    for (const word of ['t', 'T', 'true', 'True', 'TRUE']) {
      await assertValue(word, 'Boolean', 'true');
    }
    for (const word of ['f', 'F', 'false', 'False', 'FALSE']) {
      await assertValue(word, 'Boolean', 'false');
    }
  });

  it('L-02 of other words, NaN and infinity among them, are none', async () => {
    const words = [
      'NaN',
      'nan',
      'Inf',
      'inf',
      '-Inf',
      '+Inf',
      'Infinity',
      'yes',
      '+1',
      '.5',
      '-.5',
      "'x'",
      '"x',
      '-',
      'i',
    ];
    for (const word of words) {
      for (const api of WRITE_APIS) {
        const response = await write(server, { api, db: 'words' }, `m f=${word}`);
        assert.equal(response.status, 400, word);
        const bad = {
          original_line: `m f=${word}`,
          line_number: 1,
          error_message: 'No fields were provided',
        };
        assert.deepEqual(JSON.parse(response.text), refusal(api, [bad]), word);
      }
    }
  });
});

describe('a tag value that ends in a backslash', () => {
  it('is read as it was meant, by both languages, INTO, deletion and after a restart', async () => {
    await assertRows('m,disk=D:\\\\,host=a v=1 1\nm,disk=E:\\\\ v=2 2', [
      { disk: 'D:\\', host: 'a', time: at(1), v: 1 },
      { disk: 'E:\\', time: at(2), v: 2 },
    ]);
    await using first = await ServerInProcess.start();
    let own: OwnServer = first;
    const db = `l${dbCount++}`;
    assertEmpty(await write(own, { db }, 'm,disk=D:\\\\,host=a v=1 1\nm,disk=D:\\,host=a v=2 2'));
    const ask = async (q: string): Promise<unknown> => {
      const { text } = await own.http.send(`/query?${new URLSearchParams({ db, q, epoch: 'ns' })}`);
      return (JSON.parse(text) as { results: { series?: { values: unknown }[] }[] }).results[0]
        ?.series?.[0]?.values;
    };
    const condition = String.raw`disk = 'D:\\'`;
    assert.deepEqual(await ask(`SELECT v FROM m WHERE ${condition}`), [[1, 1]]);
    assert.deepEqual(await rows(own, db, String.raw`SELECT v FROM m WHERE disk = 'D:\'`), [
      { v: 1 },
    ]);
    await ask('SELECT * INTO copy FROM m GROUP BY *');
    await first.kill();
    await using second = await ServerInProcess.start({ dataDir: first.dataDir });
    own = second;
    assert.deepEqual(await ask(`SELECT v FROM copy WHERE ${condition}`), [[1, 1]]);
    await ask(`DELETE FROM m WHERE ${condition}`);
    assert.deepEqual(await rows(own, db, 'SELECT disk, v FROM m'), [{ disk: 'D:,host=a', v: 2 }]);
  });
});
