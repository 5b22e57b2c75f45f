// Source: tsdb-http, "Distinct value cache" and "Last value cache"; query-languages, "Cache table functions".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  type HttpResponse,
  type OwnServer,
  rows,
  ServerInProcess,
  write,
} from '../../harness/index.js';

const LAST = '/api/v3/configure/last_cache';
const DISTINCT = '/api/v3/configure/distinct_cache';
const DB = 'caches';

let server: OwnServer;
before(async () => {
  server = await ServerInProcess.start();
  await put('cpu,region=us,host=a usage=1,n=1i,note="x"', 3000);
  await put('cpu,region=eu,host=b usage=2,n=2i', 2000);
});
after(async () => await server.close());

type Row = Readonly<Record<string, unknown>>;
const nowMs = Date.now();
/** Returns a timestamp the given number of milliseconds before this run. */
const ago = (ms: number): string => `${nowMs - ms}000000`;
const put = async (line: string, msAgo: number, db = DB): Promise<void> =>
  assertEmpty(await write(server, { db }, `${line} ${ago(msAgo)}`));
const call = (
  method: string,
  path: string,
  body?: unknown,
  type = 'application/json',
): Promise<HttpResponse> =>
  server.http.send(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': type } }),
  });
const ask = async (q: string, db = DB) => (await rows(server, db, q)) as readonly Row[];
const refuse = async (q: string, error: string): Promise<void> =>
  assertError(
    await server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: DB, q })}`),
    400,
    `Error during planning: ${error}`,
  );
async function create(path: string, body: Row, db = DB): Promise<Row> {
  const response = await call('POST', path, { db, table: 'cpu', ...body });
  assert.equal(response.status, 201, response.text);
  assert.equal(response.headers['content-type'], 'application/json');
  const { catalog_batch, sequence_number } = JSON.parse(response.text) as {
    catalog_batch: {
      Database: { time_ns: number; database_name: string; ops: [Record<string, Row>] };
    };
    sequence_number: unknown;
  };
  assert.equal(typeof sequence_number, 'number');
  assert.equal(catalog_batch.Database.database_name, db);
  assert.ok(catalog_batch.Database.time_ns > 1e18);
  const [operation] = catalog_batch.Database.ops;
  return operation[path === LAST ? 'CreateLastCache' : 'CreateDistinctCache'] ?? {};
}

describe('distinct caches', () => {
  it('C-01 are created with the documented defaults and answer', async () => {
    const { table_id, ...rest } = await create(DISTINCT, { columns: ['region', 'host'] });
    assert.equal(typeof table_id, 'number');
    assert.deepEqual(rest, {
      table_name: 'cpu',
      node_spec: 'all',
      cache_id: 0,
      cache_name: 'cpu_region_host_distinct_cache',
      column_ids: [{ tag: 0 }, { tag: 1 }],
      max_cardinality: 100_000,
      max_age_seconds: 86_400,
      source: { type: 'User' },
    });
    assert.deepEqual(await ask('SELECT * FROM system.distinct_caches'), [
      {
        table: 'cpu',
        name: 'cpu_region_host_distinct_cache',
        column_ids: (await ask('SELECT column_ids FROM system.distinct_caches'))[0]?.['column_ids'],
        column_names: ['region', 'host'],
        max_cardinality: 100_000,
        max_age_seconds: 86_400,
      },
    ]);
  });

  it('C-01 are refused when they are wrong', async () => {
    const refused = async (body: unknown, status: number, error: string) =>
      assertError(await call('POST', DISTINCT, body), status, error);
    const at = { db: DB, table: 'cpu' };
    await refused(
      { ...at, columns: ['region', 'host'] },
      409,
      'attempted to create a resource that already exists',
    );
    await refused(
      { ...at, columns: [] },
      400,
      'invalid configuration provided: no columns provided when creating distinct cache',
    );
    await refused(
      { ...at, columns: ['host'], name: '' },
      400,
      'invalid configuration provided: cache name cannot be empty',
    );
    await refused(
      { ...at, columns: ['nope'] },
      400,
      'invalid configuration provided: invalid column provided: nope',
    );
    await refused(
      { ...at, columns: ['usage'] },
      400,
      'only tag and string columns are supported in the distinct cache',
    );
    await refused(
      { ...at, columns: ['host'], max_cardinality: 0 },
      400,
      'serde json error: invalid size provided',
    );
    await refused(
      { ...at, columns: ['host'], max_age: -1 },
      400,
      'serde json error: invalid value: integer `-1`, expected u64',
    );
    await refused(
      { ...at, columns: ['host'], max_cardinality: 1.5 },
      400,
      'serde json error: invalid type for field `max_cardinality`: floating point `1.5`, expected u64',
    );
    await refused(at, 400, 'serde json error: missing field `columns`');
    await refused({ table: 'cpu', columns: ['host'] }, 400, 'serde json error: missing field `db`');
    await refused({ db: 'none', table: 'cpu', columns: ['host'] }, 404, 'Database not found none');
    await refused(
      { db: DB, table: 'none', columns: ['host'] },
      404,
      `Table none not in DB schema for ${DB}`,
    );
    assertError(
      await call('POST', DISTINCT, { ...at, columns: ['host'] }, 'text/plain'),
      415,
      'unacceptable content-type, expected: application/json',
    );
  });

  it('C-02 show combinations in order, filtered and by prefix', async () => {
    const all = [
      { region: 'eu', host: 'b' },
      { region: 'us', host: 'a' },
    ];
    assert.deepEqual(await ask("SELECT * FROM distinct_cache('cpu')"), all);
    await put('cpu,region=us,host=c usage=3', 1000);
    await put('cpu,host=c usage=3', 1000);
    assert.deepEqual(
      await ask("SELECT region FROM distinct_cache('cpu', 'cpu_region_host_distinct_cache')"),
      [{}, { region: 'eu' }, { region: 'us' }],
    );
    assert.deepEqual(await ask("SELECT host FROM distinct_cache('cpu') WHERE region = 'us'"), [
      { host: 'a' },
      { host: 'c' },
    ]);
    assert.deepEqual(
      await ask("SELECT host FROM distinct_cache('cpu') WHERE region NOT IN ('us')"),
      [{ host: 'b' }],
    );
    assert.deepEqual(await ask("SELECT count(*) AS n FROM distinct_cache('cpu')"), [{ n: 4 }]);
    // More than a day old at the time of the write.
    await put('cpu,region=ancient,host=a usage=3', 86_400_001);
    assert.deepEqual(
      await ask("SELECT host FROM distinct_cache('cpu') WHERE region = 'ancient'"),
      [],
    );
  });

  it('C-02 are asked by the right arguments only', async () => {
    await refuse(
      'SELECT * FROM distinct_cache()',
      'first argument must be the table name as a string',
    );
    await refuse(
      'SELECT * FROM distinct_cache(1)',
      'first argument must be the table name as a string',
    );
    await refuse(
      "SELECT * FROM distinct_cache('cpu', 1)",
      'second argument, if passed, must be the cache name as a string',
    );
    await refuse("SELECT * FROM distinct_cache('none')", 'provided table name (none) is invalid');
    await refuse(
      "SELECT * FROM distinct_cache('cpu', 'none')",
      'could not find distinct value cache for the given arguments',
    );
    await create(DISTINCT, { columns: ['host', 'note'], name: 'second' });
    await refuse(
      "SELECT * FROM distinct_cache('cpu')",
      'could not find distinct value cache for the given arguments',
    );
    assert.deepEqual(
      await ask("SELECT * FROM distinct_cache('cpu', 'second') WHERE note IS NOT NULL"),
      [{ host: 'a', note: 'x' }],
    );
  });

  it('C-02 show no more combinations than allowed at any read, not only after an eviction', async () => {
    const db = 'few';
    await put('cpu,host=a usage=1', 4000, db);
    await create(DISTINCT, { columns: ['host'], max_cardinality: 2 }, db);
    for (const [i, host] of ['b', 'c', 'a', 'd'].entries()) {
      await put(`cpu,host=${host} usage=1`, 3000 - i * 100, db);
      const newest =
        [
          ['a', 'b'],
          ['b', 'c'],
          ['a', 'c'],
          ['a', 'd'],
        ][i] ?? [];
      assert.deepEqual(
        await ask("SELECT host FROM distinct_cache('cpu')", db),
        newest.map((each) => ({ host: each })),
      );
    }
  });

  it('C-05 are deleted by query string or JSON', async () => {
    const path = `${DISTINCT}?db=${DB}&table=cpu&name=second`;
    const deleted = await call('DELETE', path);
    assert.deepEqual([deleted.status, deleted.text], [200, '']);
    assertError(await call('DELETE', path), 404, 'the requested resource was not found: second');
    assertError(
      await call('DELETE', `${DISTINCT}?db=${DB}&table=cpu`),
      400,
      'serde error: missing field `name`',
    );
    assertError(
      await call('DELETE', DISTINCT),
      415,
      'unacceptable content-type, expected: application/json',
    );
    await create(DISTINCT, { columns: ['host'], name: 'third' });
    const byJson = await call('DELETE', DISTINCT, { db: DB, table: 'cpu', name: 'third' });
    assert.equal(byJson.status, 200, byJson.text);
  });
});

describe('last caches', () => {
  const db = 'lvc';
  before(async () => {
    await put('cpu,region=us,host=a usage=1,n=1i,note="x"', 3000, db);
    await put('cpu,region=eu,host=b usage=2,n=2i', 2000, db);
  });

  it('C-03 are created with the documented defaults and answer', async () => {
    const { table_id, ...rest } = await create(LAST, {}, db);
    assert.equal(typeof table_id, 'number');
    assert.deepEqual(rest, {
      table: 'cpu',
      id: 0,
      node_spec: 'all',
      name: 'cpu_region_host_last_cache',
      key_columns: [{ tag: 0 }, { tag: 1 }],
      value_columns: 'all_non_key_columns',
      count: 1,
      ttl: 14_400,
    });
    const [row] = await ask('SELECT * FROM system.last_caches', db);
    assert.deepEqual(
      { ...row, key_column_ids: undefined },
      {
        table: 'cpu',
        name: 'cpu_region_host_last_cache',
        key_column_ids: undefined,
        key_column_names: ['region', 'host'],
        count: 1,
        ttl: 14_400,
      },
    );
  });

  it('C-03 are refused when they are wrong', async () => {
    const refused = async (body: Row, status: number, error: string) =>
      assertError(await call('POST', LAST, { db, table: 'cpu', ...body }), status, error);
    await refused({}, 409, 'attempted to create a resource that already exists');
    await refused(
      { key_columns: ['nope'] },
      400,
      'invalid configuration provided: invalid key column provided: nope',
    );
    await refused(
      { key_columns: ['usage'] },
      400,
      'only uint64, int64, bool, tag, and string columns are supported in the last cache',
    );
    await refused(
      { key_columns: ['time'] },
      400,
      'only uint64, int64, bool, tag, and string columns are supported in the last cache',
    );
    await refused(
      { value_columns: ['nope'], name: 'v' },
      400,
      'invalid configuration provided: invalid value column provided: nope',
    );
    await refused(
      { count: 0, name: 'v' },
      400,
      'serde json error: last cache size must be greater than 0',
    );
    await refused(
      { ttl: 'x', name: 'v' },
      400,
      'serde json error: invalid type for field `ttl`: string "x", expected u64',
    );
    await refused({ table: 'none' }, 404, `Table none not in DB schema for ${db}`);
    assertError(
      await call('POST', LAST, { db: '_internal', table: 'x' }),
      403,
      'cannot modify internal db',
    );
  });

  it('C-04 show the newest row of each key from history and from writes', async () => {
    const seen = (where = '') =>
      ask(`SELECT region, host, usage, n, note FROM last_cache('cpu') ${where}`, db);
    assert.deepEqual(await seen(), [
      { region: 'eu', host: 'b', usage: 2, n: 2 },
      { region: 'us', host: 'a', usage: 1, n: 1, note: 'x' },
    ]);
    // Not later than the cached value; then later, without the other fields; then without a key.
    await put('cpu,region=us,host=a usage=7', 3000, db);
    await put('cpu,region=us,host=a usage=8', 3001, db);
    await put('cpu,region=us,host=a usage=9', 2999, db);
    await put('cpu,host=a usage=10', 1, db);
    assert.deepEqual(await seen("WHERE host = 'a'"), [{ region: 'us', host: 'a', usage: 9 }]);
    assert.deepEqual(await seen("WHERE host IN ('b', 'c') AND region != 'us'"), [
      { region: 'eu', host: 'b', usage: 2, n: 2 },
    ]);
    assert.deepEqual(
      Object.keys((await ask("SELECT * FROM last_cache('cpu') WHERE host = 'b'", db))[0] ?? {}),
      ['region', 'host', 'n', 'time', 'usage'],
    );
    // A new column appears.
    await put('cpu,region=eu,host=b extra=5i', 1000, db);
    assert.deepEqual(await ask("SELECT extra FROM last_cache('cpu') WHERE host = 'b'", db), [
      { extra: 5 },
    ]);
  });

  it('C-04 keep the latest rows of tables with columns of any name', async () => {
    for (const n of [1, 2, 3])
      await put(`names,host=a _number="x",_seq_number=${n}i,_SERIES=${n}i`, 4000 - n * 1000, db);
    await create(LAST, { table: 'names', name: 'two', key_columns: ['host'], count: 2 }, db);
    assert.deepEqual(
      await ask(
        `SELECT "_number", "_seq_number" AS n, "_SERIES" AS s FROM last_cache('names', 'two')`,
        db,
      ),
      [
        { _number: 'x', n: 3, s: 3 },
        { _number: 'x', n: 2, s: 2 },
      ],
    );
  });

  it('C-04 keep several rows, named values and no keys when told so', async () => {
    await create(
      LAST,
      { name: 'three', key_columns: ['host'], value_columns: ['time', 'usage'], count: 3 },
      db,
    );
    for (const [usage, msAgo] of [
      [20, 900],
      [21, 800],
      [22, 700],
      [23, 600],
    ]) {
      await put(`cpu,region=us,host=z usage=${usage}`, msAgo ?? 0, db);
    }
    assert.deepEqual(
      await ask("SELECT host, usage FROM last_cache('cpu', 'three') WHERE host = 'z'", db),
      [
        { host: 'z', usage: 23 },
        { host: 'z', usage: 22 },
        { host: 'z', usage: 21 },
      ],
    );
    assert.deepEqual(
      Object.keys((await ask("SELECT * FROM last_cache('cpu', 'three') LIMIT 1", db))[0] ?? {}),
      ['host', 'usage', 'time'],
    );
    await create(LAST, { name: 'one', key_columns: [] }, db);
    assert.deepEqual(await ask("SELECT host, usage FROM last_cache('cpu', 'one')", db), [
      { host: 'a', usage: 10 },
    ]);
    // Two lines of one request form one point, as in the table; a later request completes it.
    await create(LAST, { name: 'points', key_columns: ['host'] }, db);
    const at = ago(500);
    assertEmpty(
      await write(
        server,
        { db },
        `cpu,region=us,host=p usage=5 ${at}\ncpu,region=us,host=p n=7i ${at}`,
      ),
    );
    await put('cpu,region=us,host=p note="late"', 500, db);
    const point = { usage: 5, n: 7, note: 'late' };
    const fields = 'SELECT usage, n, note FROM';
    assert.deepEqual(await ask(`${fields} last_cache('cpu', 'points') WHERE host = 'p'`, db), [
      point,
    ]);
    assert.deepEqual(await ask(`${fields} cpu WHERE host = 'p'`, db), [point]);
    await create(LAST, { name: 'by_n', key_columns: ['n'], value_columns: ['host'] }, db);
    assert.deepEqual(await ask("SELECT n, host FROM last_cache('cpu', 'by_n') WHERE n < 2", db), [
      { n: 1, host: 'a' },
    ]);
    assert.deepEqual(
      await ask(
        "SELECT c.host, s.note FROM last_cache('cpu', 'by_n') c JOIN cpu s ON s.n = c.n WHERE c.n = 1",
        db,
      ),
      [{ host: 'a', note: 'x' }],
    );
  });

  it('C-04 come back after a restart, also when more rows than fit into a text are asked for', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => `wide,host=h${i} v=${i}i ${ago(i)}`);
    assertEmpty(await write(server, { db }, many.join('\n')));
    const made = await call('POST', LAST, { db, table: 'wide' });
    assert.equal(made.status, 201, made.text);
    const q = "SELECT count(*) AS n, sum(v) AS s, max(host) AS h FROM last_cache('wide')";
    const expected = [{ n: 2000, s: 1_999_000, h: 'h999' }];
    assert.deepEqual(await ask(q, db), expected);
    const [first, second] = await ask("SELECT host FROM last_cache('wide')", db);
    assert.deepEqual([first, second], [{ host: 'h0' }, { host: 'h1' }]);
    const { dataDir } = server;
    await server.stop();
    const again = await ServerInProcess.start({ dataDir });
    try {
      assert.deepEqual(await rows(again, db, q), expected);
      assert.deepEqual(
        await rows(again, db, "SELECT usage FROM last_cache('cpu', 'three') WHERE host = 'z'"),
        [{ usage: 23 }, { usage: 22 }, { usage: 21 }],
      );
      assert.deepEqual(await rows(again, DB, "SELECT count(*) AS n FROM distinct_cache('cpu')"), [
        { n: 4 },
      ]);
    } finally {
      await again.stop();
    }
    server = await ServerInProcess.start({ dataDir });
  });

  it('C-04 lose rows that are deleted, and go with their table', async () => {
    const removal = {
      start: '1970-01-01T00:00:00Z',
      stop: '2100-01-01T00:00:00Z',
      predicate: 'host="z"',
    };
    assertEmpty(await call('POST', `/api/v2/delete?bucket=${db}`, removal));
    assert.deepEqual(
      await ask("SELECT * FROM last_cache('cpu', 'three') WHERE host = 'z'", db),
      [],
    );
    assert.equal((await call('DELETE', `/api/v3/configure/table?db=${db}&table=cpu`)).status, 200);
    await put('cpu,host=z usage=1', 1, db);
    assert.deepEqual(await ask("SELECT * FROM system.last_caches WHERE table = 'cpu'", db), []);
  });

  it('S-03 hide what the retention period hides, as the table does, and show it again', async () => {
    const db = 'caches_kept';
    await put('cpu,host=old usage=1', 7_200_000, db);
    await put('cpu,host=new usage=2', 1000, db);
    await create(LAST, { name: 'l' }, db);
    await create(DISTINCT, { name: 'd', columns: ['host'] }, db);
    const keep = async (retention_period: string | null): Promise<void> => {
      const response = await call('PUT', '/api/v3/configure/database', { db, retention_period });
      assert.deepEqual([response.status, response.text], [200, '']);
    };
    const check = async (hosts: readonly string[]): Promise<void> => {
      for (const from of ['cpu', `last_cache('cpu', 'l')`, `distinct_cache('cpu', 'd')`]) {
        const found = await ask(`SELECT host FROM ${from} ORDER BY host`, db);
        assert.deepEqual(
          found,
          hosts.map((host) => ({ host })),
          from,
        );
      }
    };
    await check(['new', 'old']);
    await keep('1h');
    await check(['new']);
    await keep(null);
    await check(['new', 'old']);
  });

  it('C-04 cannot be asked by other arguments', async () => {
    const refusedQuery = async (q: string, error: string) =>
      assertError(
        await server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db, q })}`),
        400,
        `Error during planning: ${error}`,
      );
    await refusedQuery(
      'SELECT * FROM last_cache()',
      'first argument must be the table name as a string',
    );
    await refusedQuery("SELECT * FROM last_cache('none')", 'provided table name is invalid');
    await refusedQuery(
      "SELECT * FROM last_cache('cpu')",
      'could not find cache for the given arguments',
    );
    await refusedQuery(
      "SELECT * FROM last_cache('cpu', 1)",
      'second argument, if passed, must be the cache name as a string',
    );
  });
});
