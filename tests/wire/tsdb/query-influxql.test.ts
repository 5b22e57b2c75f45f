// Source: tsdb-http, "Native query endpoints" and §7.5.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertError, type HttpResponse, ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
  const body =
    'cpu,host=a usage=0.9,n=1i 3000000531500000000\ncpu,host=b usage=3 3000000532000000000';
  const response = await server.http.send('/write?db=q', { body });
  assert.equal(response.status, 204, response.text);
});
after(async () => await server.close());

const PATHS = ['/api/v3/query_influxql', '/api/v3/query_legacyql'];

const get = (path: string, parameters: Readonly<Record<string, string>>): Promise<HttpResponse> =>
  server.http.send(`${path}?${new URLSearchParams(parameters)}`);

function assertText(response: HttpResponse, contentType: string, text: string): void {
  assert.equal(response.status, 200, response.text);
  assert.equal(response.headers['content-type'], contentType);
  assert.equal(response.text, text);
}

const SERIES =
  '{"results":[{"series":[{"name":"cpu","columns":["time","usage"],"values":[["2065-01-24T05:28:51.500Z",0.9],["2065-01-24T05:28:52Z",3]]}]}]}';

describe('InfluxQL on the native endpoints', () => {
  it('Q-02 answers at both paths, by GET and POST, with either spelling', async () => {
    for (const path of PATHS) {
      const q = 'SELECT usage FROM cpu';
      assertText(await get(path, { db: 'q', q }), 'application/json', SERIES);
      for (const body of [
        { db: 'q', q },
        { database: 'q', query_str: q },
      ]) {
        assertText(
          await server.http.send(path, { body: JSON.stringify(body) }),
          'application/json',
          SERIES,
        );
      }
    }
  });

  it('Q-03 writes a Parquet file, by name and by Accept, also without rows', async () => {
    for (const path of PATHS) {
      for (const q of ['SELECT usage, n FROM cpu GROUP BY host', 'SELECT n FROM cpu WHERE n = 5']) {
        const named = await get(path, { db: 'q', q, format: 'parquet' });
        const url = `${path}?${new URLSearchParams({ db: 'q', q })}`;
        const headers = { accept: 'application/vnd.apache.parquet' };
        const accepted = await server.http.send(url, { headers });
        for (const response of [named, accepted]) {
          assert.equal(response.status, 200, response.text);
          assert.equal(response.headers['content-type'], 'application/vnd.apache.parquet');
          assert.equal(response.bytes.subarray(0, 4).toString(), 'PAR1');
          assert.equal(response.bytes.subarray(-4).toString(), 'PAR1');
        }
      }
    }
  });

  it('Q-02 needs no database when the statement names it', async () => {
    assertText(
      await get(PATHS[0] ?? '', { q: 'SELECT usage FROM q..cpu' }),
      'application/json',
      SERIES,
    );
    assertError(
      await get(PATHS[0] ?? '', { q: 'SELECT usage FROM cpu' }),
      400,
      "must specify a 'db' parameter, or provide the database in the InfluxQL query",
    );
    assertError(
      await get(PATHS[0] ?? '', { db: 'a', q: 'SELECT usage FROM b..cpu' }),
      400,
      "provided a database in both the parameters (a) and query string (b) that do not match, if providing a query that specifies the database, you can omit the 'database' parameter from your request",
    );
  });

  it('Q-02 has every format', async () => {
    const q = 'SELECT max(usage), n FROM cpu GROUP BY host';
    const ask = (format: string) => get(PATHS[0] ?? '', { db: 'q', q, format });
    assertText(
      await ask('json_rows'),
      'application/json',
      '[{"iox::measurement":"cpu","time":"2065-01-24T05:28:51.500","host":"a","max":0.9,"n":1},{"iox::measurement":"cpu","time":"2065-01-24T05:28:52","host":"b","max":3.0}]',
    );
    assertText(
      await ask('jsonl'),
      'application/jsonl',
      '{"iox::measurement":"cpu","time":"2065-01-24T05:28:51.500","host":"a","max":0.9,"n":1}\n{"iox::measurement":"cpu","time":"2065-01-24T05:28:52","host":"b","max":3.0}\n',
    );
    assertText(
      await ask('csv'),
      'text/csv',
      'iox::measurement,time,host,max,n\ncpu,2065-01-24T05:28:51.500,a,0.9,1\ncpu,2065-01-24T05:28:52,b,3.0,\n',
    );
    assertText(
      await ask('pretty'),
      'text/plain; charset=utf-8',
      `+------------------+-------------------------+------+-----+---+
| iox::measurement | time                    | host | max | n |
+------------------+-------------------------+------+-----+---+
| cpu              | 2065-01-24T05:28:51.500 | a    | 0.9 | 1 |
| cpu              | 2065-01-24T05:28:52     | b    | 3.0 |   |
+------------------+-------------------------+------+-----+---+
`,
    );
  });

  it('Q-02 answers nothing found with no series', async () => {
    assertText(
      await get(PATHS[0] ?? '', { db: 'q', q: 'SELECT x FROM nope' }),
      'application/json',
      '{"results":[{"series":[]}]}',
    );
  });

  it('Q-02 refuses what the version-3 server refuses', async () => {
    const check = async (q: string, status: number, error: string): Promise<void> =>
      assertError(await get(PATHS[0] ?? '', { db: 'q', q }), status, error);
    await check(
      'SELECT FROM cpu',
      400,
      'error in InfluxQL statement: parsing error: invalid SELECT statement, expected field at pos 7',
    );
    // A keyword ends the field list before its comma, so that the statement is invalid.
    await check(
      'SELECT n, name FROM cpu',
      400,
      'error in InfluxQL statement: parsing error: invalid InfluxQL statement at pos 0. Parsing Error: Nom("SELECT n, name FROM cpu", Tag)',
    );
    await check('DELETE FROM cpu', 405, 'This feature is not implemented: DELETE');
    assertError(
      await get(PATHS[0] ?? '', { db: 'none', q: 'SELECT n FROM cpu' }),
      404,
      'query error: database not found: none',
    );
  });

  it('Q-07 lists the schema in rows', async () => {
    const rows = async (q: string): Promise<unknown> =>
      JSON.parse((await get(PATHS[0] ?? '', { db: 'q', q, format: 'json_rows' })).text);
    assert.deepEqual(await rows('SHOW MEASUREMENTS'), [
      { 'iox::measurement': 'measurements', name: 'cpu' },
    ]);
    assert.deepEqual(await rows('SHOW TAG KEYS'), [{ 'iox::measurement': 'cpu', tagKey: 'host' }]);
    assert.deepEqual(await rows('SHOW FIELD KEYS'), [
      { 'iox::measurement': 'cpu', fieldKey: 'n', fieldType: 'integer' },
      { 'iox::measurement': 'cpu', fieldKey: 'usage', fieldType: 'float' },
    ]);
    assert.deepEqual(await rows('SHOW TAG VALUES WITH KEY = host'), [
      { 'iox::measurement': 'cpu', key: 'host', value: 'a' },
      { 'iox::measurement': 'cpu', key: 'host', value: 'b' },
    ]);
    assert.deepEqual(await rows('SHOW DATABASES'), [
      { 'iox::database': '_internal', deleted: false },
      { 'iox::database': 'q', deleted: false },
    ]);
    assert.deepEqual(await rows('SHOW RETENTION POLICIES ON q'), [
      { 'iox::database': 'q', name: 'autogen', duration: '0s' },
    ]);
    const policies = async (parameters: Readonly<Record<string, string>>): Promise<string> =>
      (await get(PATHS[0] ?? '', { q: 'SHOW RETENTION POLICIES', format: 'jsonl', ...parameters }))
        .text;
    const own = '{"iox::database":"q","name":"autogen","duration":"0s"}\n';
    assert.equal(await policies({ db: 'q' }), own);
    assert.match(await policies({}), /^\{"iox::database":"_internal",.+\}\n.+"q".+\n$/);
    assert.match(await policies({ db: 'none' }), /database not found: none/);
  });

  it('Q-02 has null for an infinite number in JSON, where `/query` refuses the answer', async () => {
    await server.http.send('/api/v3/write_lp?db=endless', { body: 'm v=-1e999,w=1 1000000000' });
    const question = { db: 'endless', q: 'SELECT v, w FROM m' };
    const { text: series } = await get(PATHS[0] ?? '', question);
    assert.match(series, /"values":\[\["2001-09-09T01:46:40Z",null,1\]\]/);
    const { text: line } = await get(PATHS[0] ?? '', { ...question, format: 'jsonl' });
    assert.match(line, /"v":null,"w":1/);
    const { text: refused } = await get('/query', question);
    assert.equal(refused, '{"error":"json: unsupported value: -Inf"}\n');
  });
});

describe('rows of several series', () => {
  // Absent tags come first, and tags are compared by their bytes.
  const SERIES_TAGS = [[], ['a', 'x'], ['a', 'y'], ['a.', ''], ['b', ''], ['Ü', 'x'], ['😀', '']];
  const VALUES = SERIES_TAGS.map(([host = '', room = '']) => ({ host, room }));
  const read = async (q: string) => {
    const { text } = await get('/query', { db: 'grouped', q, epoch: 'ns' });
    return JSON.parse(text).results[0].series;
  };
  before(async () => {
    const lines = [3, 1, 2].flatMap((time) =>
      VALUES.toReversed().map(({ host, room }, i) => {
        const tags = `${host && `,host=${host}`}${room && `,room=${room}`}`;
        return `m${tags} v=${i * 10 + time},w="x" ${time}`;
      }),
    );
    const body = [...lines, 'm,host=b w="only" 4'].join('\n');
    const { status, text } = await server.http.send('/write?db=grouped', { body });
    assert.equal(status, 204, text);
  });
  const seriesOf = (
    selected: typeof VALUES,
    times: readonly number[],
  ): readonly Record<string, unknown>[] =>
    selected.map((tags) => {
      const i = VALUES.length - 1 - VALUES.indexOf(tags);
      const values = times.map((time) => [time, i * 10 + time]);
      return { name: 'm', tags, columns: ['time', 'v'], values };
    });

  it('are in the order of their tags, then of their times', async () => {
    assert.deepEqual(await read('SELECT v FROM m GROUP BY *'), seriesOf(VALUES, [1, 2, 3]));
    assert.deepEqual(
      await read('SELECT v FROM m GROUP BY host, room'),
      seriesOf(VALUES, [1, 2, 3]),
    );
  });

  it('respect ORDER BY, conditions on tags, fields and times, and LIMIT', async () => {
    const ofA = VALUES.filter(({ host }) => host === 'a');
    const q = "SELECT v FROM m WHERE host = 'a' AND v > 0 AND time <= 2 GROUP BY *";
    assert.deepEqual(await read(q), seriesOf(ofA, [1, 2]));
    const descending = 'SELECT v FROM m GROUP BY * ORDER BY time DESC';
    assert.deepEqual(await read(descending), seriesOf(VALUES, [3, 2, 1]));
    assert.deepEqual(await read('SELECT v FROM m GROUP BY * LIMIT 2'), seriesOf(VALUES, [1, 2]));
    assert.equal(await read("SELECT v FROM m WHERE host = 'none' GROUP BY *"), undefined);
  });
});
