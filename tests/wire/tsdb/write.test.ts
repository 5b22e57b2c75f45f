// Source: tsdb-http, "Writing".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type HttpRequest, type HttpResponse, ServerInProcess } from '../../harness/index.js';

const LIMIT_BYTES = 65_536;
let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({
    flags: [
      '--without-auth',
      ...['--max-http-request-size', String(LIMIT_BYTES)],
      ...['--num-table-limit', '60', '--num-total-columns-per-table-limit', '5'],
    ],
  });
});
after(async () => await server.close());

const post = (path: string, body: string | Uint8Array, headers?: HttpRequest['headers']) =>
  server.http.send(path, { body, ...(headers ? { headers } : {}) });

async function rows(db: string, q: string): Promise<unknown> {
  const response = await server.http.send(
    `/api/v3/query_sql?format=json_rows&db=${db}&q=${encodeURIComponent(q)}`,
  );
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text);
}

function assertEmpty(response: HttpResponse): void {
  assert.equal(response.status, 204, response.text);
  assert.equal(response.text, '');
}

function assertError(response: HttpResponse, status: number, body: unknown): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(response.text), body);
}

const failure = (error: string) => ({ error, data: {} });
const v2Failure = (message: string, error = message) => ({
  code: 'invalid',
  message,
  error,
  data: {},
});

describe('POST /api/v3/write_lp', () => {
  it('W-01 answers 204 and creates database, table and columns', async () => {
    const response = await post(
      '/api/v3/write_lp?db=w01',
      'cpu,host=a usage=0.5 1735549200000000000',
    );
    assertEmpty(response);
    assert.match(String(response.headers['cluster-uuid']), /^[0-9a-f-]{36}$/);
    assertEmpty(await post('/api/v3/write_lp?db=w01', 'cpu,host=b,dc=x n=3i 1735549201000000000'));
    assert.deepEqual(await rows('w01', 'SELECT * FROM cpu ORDER BY time'), [
      { host: 'a', time: '2024-12-30T09:00:00', usage: 0.5 },
      { dc: 'x', host: 'b', n: 3, time: '2024-12-30T09:00:01' },
    ]);
  });

  it('W-01 takes any content type, one that is none included', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain; charset=utf-8', ';;']) {
      assertEmpty(await post('/api/v3/write_lp?db=w01t', 't v=1 1', { 'content-type': type }));
    }
  });

  it('W-02 knows every spelling of the precision', async () => {
    const spellings = {
      second: ['s', 'second'],
      millisecond: ['ms', 'millisecond'],
      microsecond: ['us', 'u', 'microsecond'],
      nanosecond: ['ns', 'n', 'nanosecond'],
    };
    const times = {
      second: '1735549200',
      millisecond: '1735549200000',
      microsecond: '1735549200000000',
      nanosecond: '1735549200000000000',
    };
    for (const [unit, names] of Object.entries(spellings)) {
      for (const name of names) {
        const time = times[unit as keyof typeof times]; // the same four keys
        assertEmpty(await post(`/api/v3/write_lp?db=w02&precision=${name}`, `m v=1 ${time}`));
      }
    }
    assert.deepEqual(await rows('w02', 'SELECT time FROM m'), [{ time: '2024-12-30T09:00:00' }]);
  });

  it('W-02 tells the unit of each line from its magnitude when the precision is auto', async () => {
    const body = [
      'm,n=1 v=1 1',
      'm,n=2 v=2 5000000000',
      'm,n=3 v=3 5000000000000',
      'm,n=4 v=4 5000000000000000',
    ];
    assertEmpty(await post('/api/v3/write_lp?db=w02a&precision=auto', body.join('\n')));
    assert.deepEqual(await rows('w02a', 'SELECT time, v FROM m ORDER BY v'), [
      { time: '1970-01-01T00:00:01', v: 1 },
      { time: '1970-02-27T20:53:20', v: 2 },
      { time: '1970-02-27T20:53:20', v: 3 },
      { time: '1970-02-27T20:53:20', v: 4 },
    ]);
  });

  it('W-02 refuses an unknown precision', async () => {
    assertError(
      await post('/api/v3/write_lp?db=w02&precision=week', 'm v=1 1'),
      400,
      failure(
        'serde error: unknown variant `week`, expected one of `auto`, `second`, `millisecond`, `microsecond`, `nanosecond`',
      ),
    );
  });

  it('W-03 gives lines without a time the time of arrival, cut to the precision', async () => {
    const startMs = Date.now();
    assertEmpty(await post('/api/v3/write_lp?db=w03&precision=second', 'm,a=1 v=1\nm,a=2 v=2'));
    const endMs = Date.now();
    const found = (await rows('w03', 'SELECT DISTINCT time FROM m')) as { time: string }[];
    assert.equal(found.length, 1, 'all lines of a request have one time');
    assert.match(found[0]?.time ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    const timeMs = Date.parse(`${found[0]?.time}Z`);
    assert.ok(timeMs >= Math.floor(startMs / 1000) * 1000 && timeMs <= endMs);
  });

  it('W-04 keeps the good lines and lists the bad ones', async () => {
    const body = 'home,room=a temp=1 1\n\nhome,room=b temp="hi" 2\nnothing\nhome,room=c temp=3 3';
    assertError(await post('/api/v3/write_lp?db=w04', body), 400, {
      error: 'partial write of line protocol occurred',
      data: [
        {
          original_line: 'home,room=b temp="hi" 2',
          line_number: 3,
          error_message:
            "invalid column type for column 'temp', expected iox::column_type::field::float, got iox::column_type::field::string",
        },
        {
          original_line: 'nothing',
          line_number: 4,
          error_message: 'Expected at least one space character, got end of input',
        },
      ],
    });
    assert.deepEqual(await rows('w04', 'SELECT room, temp FROM home ORDER BY room'), [
      { room: 'a', temp: 1 },
      { room: 'c', temp: 3 },
    ]);
  });

  it('W-05 says that the write failed when no line is good', async () => {
    assertError(await post('/api/v3/write_lp?db=w05', 'nothing'), 400, {
      error: 'write of line protocol failed',
      data: [
        {
          original_line: 'nothing',
          line_number: 1,
          error_message: 'Expected at least one space character, got end of input',
        },
      ],
    });
  });

  it('W-05 stores nothing of a request that does not accept a partial write', async () => {
    const response = await post(
      '/api/v3/write_lp?db=w05b&accept_partial=false',
      'm v=1 1\nm v=hi 2',
    );
    assertError(response, 400, {
      error: 'write of line protocol failed',
      data: [
        { original_line: 'm v=hi 2', line_number: 2, error_message: 'No fields were provided' },
      ],
    });
    const query = await server.http.send('/api/v3/query_sql?db=w05b&q=SELECT%201');
    assertError(query, 404, failure('query error: database not found: w05b'));
  });

  it('W-06 makes a write with no_sync visible at once', async () => {
    assertEmpty(await post('/api/v3/write_lp?db=w06&no_sync=true', 'm v=1 1'));
    assert.deepEqual(await rows('w06', 'SELECT v FROM m'), [{ v: 1 }]);
  });

  it('W-09 refuses an empty body, one that is not UTF-8, a missing or bad database', async () => {
    const path = '/api/v3/write_lp';
    const cases: readonly (readonly [string, string | Uint8Array, string])[] = [
      [`${path}?db=w09`, '', 'incoming write was empty'],
      [`${path}?db=w09`, '\n# comment\n', 'incoming write was empty'],
      [
        `${path}?db=w09`,
        Buffer.from([0x6d, 0x20, 0x76, 0x3d, 0xff]),
        'body content is not valid utf8: invalid utf-8 sequence of 1 bytes from index 4',
      ],
      [path, 'm v=1', "missing query parameter 'db'"],
      [`${path}?precision=s`, 'm v=1', 'serde error: missing field `db`'],
      [`${path}?db=`, 'm v=1', 'db name cannot be empty'],
      [`${path}?db=-x`, 'm v=1', 'db name did not start with a number or letter'],
      [
        `${path}?db=a.b`,
        'm v=1',
        'invalid character in database or rp name: must be ASCII, containing only letters, numbers, underscores, or hyphens',
      ],
      [`${path}?db=${'x'.repeat(512)}`, 'm v=1', 'db name too long: max 511'],
      [`${path}?db=a&database=b`, 'm v=1', "conflicting values for 'db' and 'database'"],
    ];
    for (const [target, body, error] of cases) {
      assertError(await post(target, body), 400, failure(error));
    }
  });

  it('W-10 answers 422 when a limit refuses a line', async () => {
    assertError(await post('/api/v3/write_lp?db=w10', 'm a=1,b=1,c=1,d=1,e=1,f=1 1'), 422, {
      error: 'write of line protocol failed',
      data: [
        {
          original_line: 'm a=1,b=1,c=1,d=1,e=1,f=1 1',
          line_number: 1,
          error_message:
            'Update to schema would exceed number of columns per table limit of 5 columns',
        },
      ],
    });
  });

  it('T-03 inflates one gzip member and several', async () => {
    const headers = { 'content-encoding': 'gzip' };
    assertEmpty(await post('/api/v3/write_lp?db=t03', gzipSync('m v=1 1\n'), headers));
    const two = Buffer.concat([gzipSync('m v=2 2\n'), gzipSync('m v=3 3\n')]);
    assertEmpty(await post('/api/v3/write_lp?db=t03', two, headers));
    assert.deepEqual(await rows('t03', 'SELECT v FROM m ORDER BY v'), [
      { v: 1 },
      { v: 2 },
      { v: 3 },
    ]);
  });

  it('T-03 answers a request without a body as before, whatever empty gzip came in between', async () => {
    const nothing = { error: 'incoming write was empty', data: {} };
    assertError(await post('/api/v3/write_lp?db=t03', ''), 400, nothing);
    const gzip = { 'content-encoding': 'gzip' };
    for (const body of ['', gzipSync('')]) {
      assert.equal((await post('/api/v3/write_lp?db=t03', body, gzip)).status, 400);
      assertError(await post('/api/v3/write_lp?db=t03', ''), 400, nothing);
      assertError(await post('/write?db=t03', ''), 400, nothing);
    }
  });

  it('T-03 refuses other encodings and damaged gzip', async () => {
    for (const encoding of ['deflate', 'GZIP', 'gzip, gzip']) {
      const response = await post('/api/v3/write_lp?db=t03', 'm v=1 1', {
        'content-encoding': encoding,
      });
      assertError(response, 400, failure(`unacceptable content-encoding: ${encoding}`));
    }
    const damaged = await post('/api/v3/write_lp?db=t03', 'm v=1 1', {
      'content-encoding': 'gzip',
    });
    assert.equal(damaged.status, 400);
    assert.match(damaged.text, /^\{"error":"error decoding gzip stream: /);
  });

  it('T-03 answers 413 to what is too large as sent or after inflation', async () => {
    const error = failure(`max request size (${LIMIT_BYTES} bytes) exceeded`);
    const large = Buffer.alloc(LIMIT_BYTES + 1, 'm v=1 1\n');
    assertError(await post('/api/v3/write_lp?db=t03', large), 413, error);
    const headers = { 'content-encoding': 'gzip' };
    assertError(await post('/api/v3/write_lp?db=t03', gzipSync(large), headers), 413, error);
  });
});

describe('POST /write', () => {
  it('W-07 takes db, rp, precision, u and p, and says its version', async () => {
    const response = await post('/write?db=w07&rp=autogen&precision=s&u=x&p=y', 'm v=1 1');
    assertEmpty(response);
    assert.match(String(response.headers['x-influxdb-version']), /^3\./);
    assert.equal(response.headers['x-influxdb-build'], 'Core');
    assertEmpty(await post('/write?db=w07&rp=Weekly', 'm v=2 2000000000'));
    assert.deepEqual(await rows('w07', 'SELECT time, v FROM m'), [
      { time: '1970-01-01T00:00:01', v: 1 },
    ]);
    assert.deepEqual(await rows('w07%2Fweekly', 'SELECT time, v FROM m'), [
      { time: '1970-01-01T00:00:02', v: 2 },
    ]);
  });

  it('W-07 reads an empty precision as none: the shell of version 1 sends it', async () => {
    assertEmpty(await post('/write?consistency=all&db=w07e&precision=&rp=', 'm v=1 2000000001'));
    assert.deepEqual(await rows('w07e', 'SELECT time, v FROM m'), [
      { time: '1970-01-01T00:00:02.000000001', v: 1 },
    ]);
  });

  it('W-07 words the failures of its parameters its own way', async () => {
    const prefix = 'failed to deserialize db/rp/precision in request: ';
    assertError(await post('/write', 'm v=1'), 400, failure('no db destination provided'));
    assertError(await post('/write?rp=x', 'm v=1'), 400, failure(`${prefix}missing field \`db\``));
    const long = 'x'.repeat(65);
    assertError(
      await post(`/write?db=${long}`, 'm v=1'),
      400,
      failure(`namespace name ${long} length must be between 1 and 64 characters`),
    );
    assertError(
      await post('/write?db=a!b', 'm v=1'),
      400,
      failure("namespace name 'a!b' contains invalid character, character number 1 is not allowed"),
    );
  });
});

describe('POST /api/v2/write', () => {
  it('W-08 takes db or bucket and ignores org', async () => {
    assertEmpty(await post('/api/v2/write?bucket=w08&org=o&precision=s', 'm v=1 1'));
    assertEmpty(await post('/api/v2/write?db=w08&orgID=o&precision=ms', 'm v=2 2000'));
    assert.deepEqual(await rows('w08', 'SELECT time, v FROM m ORDER BY v'), [
      { time: '1970-01-01T00:00:01', v: 1 },
      { time: '1970-01-01T00:00:02', v: 2 },
    ]);
  });

  it('W-08 answers failures with code and message beside error and data', async () => {
    const path = '/api/v2/write';
    assertError(await post(path, 'm v=1'), 400, v2Failure('no org/bucket destination provided'));
    assertError(await post(`${path}?org=o`, 'm v=1'), 400, v2Failure('missing bucket value'));
    assertError(
      await post(`${path}?bucket=a&db=b`, 'm v=1'),
      400,
      v2Failure("conflicting values for 'bucket' and 'db'"),
    );
    assertError(
      await post(`${path}?bucket=w08`, ''),
      400,
      v2Failure('write buffer error: incoming write was empty', 'incoming write was empty'),
    );
    assertError(await post(`${path}?bucket=w08`, 'm v=hi'), 400, {
      code: 'invalid',
      message: 'write of line protocol failed: line 1: No fields were provided',
      error: 'write of line protocol failed',
      data: [{ original_line: 'm v=hi', line_number: 1, error_message: 'No fields were provided' }],
    });
  });
});
