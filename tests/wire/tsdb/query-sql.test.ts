// Source: tsdb-http, "Native query endpoints" and "Result formats".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
  const lines = [
    'cpu,host=a usage=0.9,n=1i,big=18446744073709551615u,ok=t,note="x,\\"y\\"" 3000000531500000000',
    'cpu,host=b usage=3,n=9223372036854775807i 3000000532000000001',
  ];
  const response = await server.http.send('/api/v3/write_lp?db=q', { body: lines.join('\n') });
  assert.equal(response.status, 204, response.text);
});
after(async () => await server.close());

const ORDERED = 'SELECT * FROM cpu ORDER BY time';

function get(
  parameters: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  return server.http.send(`/api/v3/query_sql?${new URLSearchParams(parameters)}`, { headers });
}

const send = (body: string | Uint8Array, encoding: string) =>
  server.http.send('/api/v3/query_sql', { body, headers: { 'content-encoding': encoding } });

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  server.http.send('/api/v3/query_sql', {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers,
  });

function assertResponse(response: HttpResponse, contentType: string, text: string): void {
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers['content-type'], contentType);
  assert.equal(response.text, text);
}

function assertError(response: HttpResponse, status: number, error: string): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(response.text), { error, data: {} });
}

const HOSTS = '{"results":[{"series":[{"name":"cpu","columns":["host"],"values":[["a"],["b"]]}]}]}';
const HOSTS_QUERY = 'SELECT host FROM cpu ORDER BY host';

describe('/api/v3/query_sql', () => {
  it('Q-01 takes both spellings by GET and by POST, whatever the content type', async () => {
    for (const [db, q] of [
      ['db', 'q'],
      ['database', 'query_str'],
    ] as const) {
      const input = { [db]: 'q', [q]: HOSTS_QUERY };
      assertResponse(await get(input), 'application/json', HOSTS);
      assertResponse(await post(input), 'application/json', HOSTS);
      const typed = await post(input, { 'content-type': 'text/plain' });
      assertResponse(typed, 'application/json', HOSTS);
    }
  });

  it('T-03 takes requests in gzip and refuses other encodings', async () => {
    const body = JSON.stringify({ db: 'q', q: HOSTS_QUERY });
    const half = Math.floor(body.length / 2);
    const members = [gzipSync(body.slice(0, half)), gzipSync(body.slice(half))];
    for (const sent of [gzipSync(body), Buffer.concat(members)]) {
      assertResponse(await send(sent, 'gzip'), 'application/json', HOSTS);
    }
    assertResponse(await send(body, 'identity'), 'application/json', HOSTS);
    assertError(await send(body, 'br'), 400, 'unacceptable content-encoding: br');
    const damaged = await send(body, 'gzip');
    assert.equal(damaged.status, 400, damaged.text);
    assert.match(damaged.text, /^\{"error":"error decoding gzip stream: /);
    const bomb = await send(gzipSync(Buffer.alloc(10_485_761, ' ')), 'gzip');
    assertError(bomb, 413, 'max request size (10485760 bytes) exceeded');
    const form = await server.http.send('/query', {
      body: gzipSync(
        new URLSearchParams({ db: 'q', q: 'SELECT count("usage") FROM cpu' }).toString(),
      ),
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/x-www-form-urlencoded' },
    });
    assert.equal(form.status, 200, form.text);
    assert.match(form.text, /"values":\[\["1970-01-01T00:00:00Z",2\]\]/);
    const created = await server.http.send('/api/v3/configure/database', {
      body: gzipSync('{"db":"zipped"}'),
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    });
    assert.equal(created.status, 200, created.text);
  });

  it('Q-01 refuses JSON that is not UTF-8 instead of guessing', async () => {
    // In Latin-1 it is a single byte that is invalid in UTF-8.
    const body = Buffer.from('{"db":"q","q":"SELECT \'ÿ\' AS a"}', 'latin1');
    const response = await send(body, 'identity');
    assertError(response, 400, 'serde json error: invalid unicode code point');
  });

  it('Q-05 refuses a parameter beyond the range of numbers', async () => {
    const response = await post('{"db":"q","q":"SELECT $a AS a","params":{"a":1e400}}');
    assertError(response, 400, 'serde json error: number out of range');
  });

  it('compares a tag or text with a number as texts, so that no row fails the query', async () => {
    const lines = 't,n=1 s="2" 1\nt,n=abc s="x" 2\nt s="1.5" 3';
    const written = await server.http.send('/api/v3/write_lp?db=q&precision=ns', { body: lines });
    assert.equal(written.status, 204, written.text);
    const counts: readonly (readonly [string, number])[] = [
      ['n = 1', 1],
      ['1 = n', 1],
      ['n <> 1', 1],
      ['n IN (1, 2)', 1],
      ["n IN (1, 'abc')", 2],
      ['n NOT IN (1, 2)', 1],
      ['s = 2', 1],
      ['s = 1.5', 1],
      ['s IN (2, 1.5)', 2],
      ['n IN (SELECT 1)', 1],
      ['n BETWEEN 1 AND 2', 1],
    ];
    for (const [condition, count] of counts) {
      const q = `SELECT count(*) AS c FROM t WHERE ${condition}`;
      assertResponse(await get({ db: 'q', q, format: 'csv' }), 'text/csv', `c\n${count}\n`);
    }
  });

  it('Q-01 refuses spellings that disagree and parameters that are missing', async () => {
    const conflict = "conflicting values for 'db' and 'database'";
    assertError(await get({ db: 'q', database: 'r', q: 'SELECT 1' }), 400, conflict);
    assertError(await post({ db: 'q', database: 'r', q: 'SELECT 1' }), 400, conflict);
    const none = await server.http.send('/api/v3/query_sql');
    assertError(none, 400, "missing query parameters 'db' and 'q'");
    assertError(await get({ q: 'SELECT 1' }), 400, 'serde error: missing field `db`');
    assertError(await get({ db: 'q' }), 400, 'serde error: missing field `q`');
    assertError(await post({ q: 'SELECT 1' }), 400, 'serde json error: missing field `db`');
    const broken = await post('{');
    assert.equal(broken.status, 400);
    assert.match(broken.text, /^\{"error":"serde json error: /);
  });

  it('Q-03 writes csv', async () => {
    const text =
      'big,host,n,note,ok,time,usage\n' +
      '18446744073709551615,a,1,"x,""y""",true,2065-01-24T05:28:51.500,0.9\n' +
      ',b,9223372036854775807,,,2065-01-24T05:28:52.000000001,3.0\n';
    assertResponse(await get({ db: 'q', q: ORDERED, format: 'csv' }), 'text/csv', text);
    assertResponse(await get({ db: 'q', q: ORDERED }, { accept: 'text/csv' }), 'text/csv', text);
    const empty = await get({ db: 'q', q: 'SELECT host, n FROM cpu WHERE n = 5', format: 'csv' });
    assertResponse(empty, 'text/csv', 'host,n\n');
  });

  it('Q-03 writes jsonl, by either name', async () => {
    const text =
      '{"big":18446744073709551615,"host":"a","n":1,"note":"x,\\"y\\"","ok":true,"time":"2065-01-24T05:28:51.500","usage":0.9}\n' +
      '{"host":"b","n":9223372036854775807,"time":"2065-01-24T05:28:52.000000001","usage":3.0}\n';
    for (const format of ['jsonl', 'json_lines']) {
      assertResponse(await get({ db: 'q', q: ORDERED, format }), 'application/jsonl', text);
    }
    const accepted = await get({ db: 'q', q: ORDERED }, { accept: 'application/jsonl' });
    assertResponse(accepted, 'application/jsonl', text);
    const empty = await get({ db: 'q', q: 'SELECT n FROM cpu WHERE n = 5', format: 'jsonl' });
    assertResponse(empty, 'application/jsonl', '');
  });

  it('Q-03 writes a pretty table', async () => {
    const text = [
      '+------+-------------------------+-------+',
      '| host | time                    | usage |',
      '+------+-------------------------+-------+',
      '| a    | 2065-01-24T05:28:51.500 | 0.9   |',
      '+------+-------------------------+-------+',
      '',
    ].join('\n');
    const q = "SELECT host, time, usage FROM cpu WHERE host = 'a'";
    assertResponse(await get({ db: 'q', q, format: 'pretty' }), 'text/plain; charset=utf-8', text);
    const accepted = await get({ db: 'q', q }, { accept: 'text/plain' });
    assertResponse(accepted, 'text/plain; charset=utf-8', text);
  });

  it('Q-03 writes a Parquet file, also without rows', async () => {
    for (const q of [ORDERED, 'SELECT n FROM cpu WHERE n = 5']) {
      const response = await get({ db: 'q', q, format: 'parquet' });
      assert.equal(response.status, 200, response.text);
      assert.equal(response.headers['content-type'], 'application/vnd.apache.parquet');
      assert.equal(response.bytes.subarray(0, 4).toString(), 'PAR1');
      assert.equal(response.bytes.subarray(-4).toString(), 'PAR1');
    }
  });

  it('Q-03 refuses other formats and media types', async () => {
    const variants = '`parquet`, `csv`, `pretty`, `json`, `jsonl`';
    const text = `unknown variant \`xml\`, expected one of ${variants}`;
    assertError(await get({ db: 'q', q: 'SELECT 1', format: 'xml' }), 400, `serde error: ${text}`);
    assertError(
      await get({ db: 'q', q: 'SELECT 1', format: 'csv' }, { accept: 'image/png' }),
      400,
      'invalid mime type (image/png)',
    );
    for (const [accept, type] of [
      ['application/json, text/csv', 'application/json'],
      ['application/json;q=0.1, text/csv', 'text/csv'],
      ['text/csv;q=0, application/json', 'application/json'],
      ['image/png, text/csv;q=0.2', 'text/csv'],
    ] as const) {
      const response = await get({ db: 'q', q: HOSTS_QUERY }, { accept });
      assert.equal(response.headers['content-type'], type, accept);
    }
    const browser = 'text/html,application/xhtml+xml,image/png';
    const html = await get({ db: 'q', q: HOSTS_QUERY }, { accept: browser });
    assertResponse(html, 'application/json', HOSTS);
  });

  it('Q-04 answers json as series, with RFC 3339 times and every digit', async () => {
    const text =
      '{"results":[{"series":[{"name":"cpu","columns":["big","host","n","note","ok","time","usage"],"values":[' +
      '[18446744073709551615,"a",1,"x,\\"y\\"",true,"2065-01-24T05:28:51.500Z",0.9],' +
      '[null,"b",9223372036854775807,null,null,"2065-01-24T05:28:52.000000001Z",3]]}]}]}';
    assertResponse(await get({ db: 'q', q: ORDERED, format: 'json' }), 'application/json', text);
    const empty = await get({ db: 'q', q: 'SELECT n FROM cpu WHERE n = 5' });
    const none = '{"results":[{"series":[{"name":"cpu","columns":["n"],"values":[]}]}]}';
    assertResponse(empty, 'application/json', none);
    const one = '{"results":[{"series":[{"name":"result","columns":["one"],"values":[[1]]}]}]}';
    assertResponse(await get({ db: 'q', q: 'SELECT 1 AS one' }), 'application/json', one);
  });

  it('Q-04 answers rows on request', async () => {
    const q = "SELECT host, note, time, usage FROM cpu WHERE host = 'b'";
    const text = '[{"host":"b","time":"2065-01-24T05:28:52.000000001","usage":3.0}]';
    assertResponse(await get({ db: 'q', q, format: 'json_rows' }), 'application/json', text);
    const accept = 'application/json; shape=rows';
    assertResponse(await get({ db: 'q', q }, { accept }), 'application/json', text);
  });

  it('Q-04 keeps the digits of decimals and dates outside the range of timestamps', async () => {
    const q =
      "SELECT round(CAST('123456789012345678.125' AS DECIMAL(38, 3)), 2) AS a, DATE '9999-12-31' AS b, " +
      "to_timestamp('01-14-2023 01:01:30+05', '%m-%d-%Y %H:%M:%S%#z') AS c";
    const text = 'a,b,c\n123456789012345678.13,9999-12-31,2023-01-13T20:01:30\n';
    assertResponse(await get({ db: 'q', q, format: 'csv' }), 'text/csv', text);
  });

  it('Q-04 interpolates integers across a row without a value', async () => {
    const body = 'line n=3i 0\nline other=1 60\nline n=0i 120';
    const written = await server.http.send('/api/v3/write_lp?db=q&precision=second', { body });
    assert.equal(written.status, 204, written.text);
    const q =
      "SELECT date_bin_gapfill(INTERVAL '1 minute', time) AS t, interpolate(max(n)) AS n FROM line " +
      "WHERE time >= '1970-01-01T00:00:00Z' AND time < '1970-01-01T00:04:00Z' GROUP BY t";
    const text =
      't,n\n1970-01-01T00:00:00,3\n1970-01-01T00:01:00,1\n1970-01-01T00:02:00,0\n1970-01-01T00:03:00,\n';
    assertResponse(await get({ db: 'q', q, format: 'csv' }), 'text/csv', text);
  });

  it('Q-05 binds parameters by their JSON type', async () => {
    const q = 'SELECT host FROM cpu WHERE host = $host AND n >= $n AND usage > $usage';
    const params = { host: 'a', n: 1, usage: 0.5 };
    const text = '{"results":[{"series":[{"name":"cpu","columns":["host"],"values":[["a"]]}]}]}';
    const byGet = await get({ db: 'q', q, params: JSON.stringify(params) });
    assertResponse(byGet, 'application/json', text);
    assertResponse(await post({ db: 'q', q, params }), 'application/json', text);
  });

  it('Q-05 refuses lists as parameters and placeholders without a value', async () => {
    assertError(
      await post({ db: 'q', q: 'SELECT $a', params: { a: [1] } }),
      400,
      'serde json error: JSON arrays are not supported as query parameters. Expected null, boolean, number, or string.',
    );
    assertError(
      await get({ db: 'q', q: 'SELECT host FROM cpu WHERE host = $host' }),
      400,
      'Error during planning: No value found for placeholder with name $host',
    );
  });

  it('Q-06 answers failures of planning with the documented texts', async () => {
    assertError(
      await get({ db: 'nowhere', q: 'SELECT 1' }),
      404,
      'query error: database not found: nowhere',
    );
    assertError(
      await get({ db: 'q', q: 'SELECT * FROM nothing' }),
      400,
      "Error during planning: table 'public.iox.nothing' not found",
    );
    const refused: readonly (readonly [string, string])[] = [
      ['CREATE TABLE t (a INT)', 'DDL not supported: CreateMemoryTable'],
      ['DROP TABLE cpu', 'DDL not supported: DropTable'],
      ['INSERT INTO cpu VALUES (1)', 'DML not supported: Insert'],
      ['DELETE FROM cpu', 'DML not supported: Delete'],
    ];
    for (const [q, what] of refused) {
      const response = await get({ db: 'q', q });
      assert.equal(response.status, 400, `${q}: ${response.text}`);
      const kind = what.slice(0, what.indexOf(':'));
      assert.match(response.text, new RegExp(`^{"error":"Error during planning: ${kind}: `));
    }
    assertError(
      await get({ db: 'q', q: 'SELECT DISTINCT ON () host FROM cpu' }),
      400,
      'Error during planning: No `ON` expressions provided',
    );
    assertError(
      await get({ db: 'q', q: 'SELECT 1; SELECT 2' }),
      405,
      'This feature is not implemented: The context currently only supports a single SQL statement',
    );
    const syntax = await get({ db: 'q', q: 'SELEC 1' });
    assert.equal(syntax.status, 400);
    assert.match(syntax.text, /^\{"error":"SQL error: ParserError\(/);
  });

  it('narrows time by texts with the name of a zone, again and again', async () => {
    const hostsSince = async (bound: string, hosts: readonly string[]) => {
      const q = `SELECT host FROM cpu WHERE time >= ${bound} ORDER BY host`;
      const response = await get({ db: 'q', q, format: 'jsonl' });
      assertResponse(
        response,
        'application/jsonl',
        hosts.map((host) => `{"host":"${host}"}\n`).join(''),
      );
    };
    // The rows have the timestamps 05:28:51.5 and 05:28:52 in UTC.
    await hostsSince("'2065-01-24 00:28:51 America/New_York'", ['a', 'b']);
    await hostsSince("'2065-01-24 00:28:52 America/New_York'", ['b']);
    await hostsSince("'2065-01-24 06:28:52 Europe/Berlin'", ['b']);
    await hostsSince("'2065-01-24T00:28:51-05:00' AT TIME ZONE 'Asia/Tokyo'", ['a', 'b']);
    await hostsSince("TIMESTAMP '2065-01-31 00:28:52 America/New_York' - INTERVAL 1 WEEK", ['b']);
    await hostsSince("TIMESTAMP '2065-02-24 00:28:51 America/New_York' - INTERVAL '1' MONTH", [
      'a',
      'b',
    ]);
  });
});
