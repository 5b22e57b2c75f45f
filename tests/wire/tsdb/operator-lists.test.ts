// Source: docs/CONSOLE-INTERNALS.md, "API for the console".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { RecordBatchReader, tableFromIPC } from 'apache-arrow';
import { ServerInProcess } from '../../harness/index.js';

// biome-ignore lint/suspicious/noExplicitAny: many tests read members of response bodies.
type Json = any;

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start({ flags: ['--without-auth', '--services', 'tsdb'] });
  const lines = 'cpu,host=b,region=eu usage=1.5,n=9007199254740993i 1000\ncpu,host=a usage=2 2000';
  const path = '/api/v3/write_lp?precision=nanosecond&db=';
  assert.equal((await server.http.send(`${path}one`, { body: lines })).status, 204);
  assert.equal(
    (await server.http.send(`${path}one`, { body: 'Mem,host=a free=1i 3000' })).status,
    204,
  );
  assert.equal((await server.http.send(`${path}two`, { body: 'm v=1 1' })).status, 204);
});
after(() => server.close());

const get = async (path: string): Promise<Json> => {
  const response = await server.http.send(path);
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text);
};

describe('the list of databases', () => {
  it('has rows, times and tables of each', async () => {
    const { databases } = await get('/ops/v1/tsdb/databases?find=ON');
    assert.deepEqual(databases, [
      {
        name: 'one',
        retention_ns: null,
        integer_fields: 'integer',
        table_count: 2,
        row_count: 3,
        size_bytes: 0,
        segment_count: 0,
        buffered_row_count: 3,
        min_time: '1000',
        max_time: '3000',
        deleted_at: null,
        hard_delete_at: null,
      },
    ]);
  });

  it('has deleted ones when they are asked for', async () => {
    await server.http.send('/api/v3/write_lp?db=three', { body: 'm v=1 1' });
    await server.http.send('/api/v3/configure/database?db=three', { method: 'DELETE' });
    const names = async (query: string): Promise<readonly string[]> =>
      (await get(`/ops/v1/tsdb/databases?find=three${query}`)).databases.map(
        ({ name }: Json) => name,
      );
    assert.deepEqual(await names(''), []);
    const { databases } = await get('/ops/v1/tsdb/databases?find=three&deleted=true');
    assert.equal(databases.length, 1);
    assert.match(databases[0].name, /^three/);
    assert.ok(Date.parse(databases[0].deleted_at) <= Date.now());
  });
});

describe('the schema of a database', () => {
  it('has columns, key, rows and series of each table', async () => {
    const { tables, table_count, next_cursor } = await get('/ops/v1/tsdb/schema?db=one&find=cp');
    assert.deepEqual([table_count, next_cursor], [1, null]);
    assert.deepEqual(tables, [
      {
        name: 'cpu',
        series_key: ['host', 'region'],
        columns: [
          { name: 'host', kind: 'tag' },
          { name: 'n', kind: 'int64' },
          { name: 'region', kind: 'tag' },
          { name: 'time', kind: 'time' },
          { name: 'usage', kind: 'float64' },
        ],
        retention_ns: null,
        series_count: 2,
        row_count: 2,
        size_bytes: 0,
        segment_count: 0,
        buffered_row_count: 2,
        min_time: '1000',
        max_time: '2000',
      },
    ]);
  });

  it('comes in pages, by the bytes of the names', async () => {
    const first = await get('/ops/v1/tsdb/schema?db=one&limit=1');
    assert.deepEqual(
      [first.tables[0].name, first.table_count, first.next_cursor],
      ['Mem', 2, 'Mem'],
    );
    const second = await get('/ops/v1/tsdb/schema?db=one&limit=1&cursor=Mem');
    assert.deepEqual([second.tables[0].name, second.next_cursor], ['cpu', null]);
  });

  it('is refused for a database that is not there, and without a name', async () => {
    const missing = await server.http.send('/ops/v1/tsdb/schema?db=nowhere');
    assert.equal(missing.status, 404);
    assert.equal(JSON.parse(missing.text).message, 'database not found: nowhere');
    assert.equal((await server.http.send('/ops/v1/tsdb/schema')).status, 422);
    assert.equal((await server.http.send('/ops/v1/tsdb/schema?db=one&limit=0')).status, 422);
  });
});

describe('an answer in Arrow', () => {
  const ask = async (language: string, body: object) =>
    await server.http.send(`/api/v3/query_${language}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ db: 'one', format: 'arrow', ...body }),
    });

  it('keeps nanoseconds and 64-bit integers', async () => {
    for (const [language, q] of [
      ['sql', 'SELECT time, host, n, usage FROM cpu ORDER BY time'],
      ['influxql', 'SELECT host, n, usage FROM cpu'],
    ] as const) {
      const response = await ask(language, { q });
      assert.equal(response.status, 200, response.text);
      assert.equal(response.headers['content-type'], 'application/vnd.apache.arrow.stream');
      const table = tableFromIPC(response.bytes);
      const column = (name: string): Json => table.getChild(name);
      assert.deepEqual([...column('time').data[0].values], [1000n, 2000n], language);
      assert.deepEqual([column('n').get(0), column('n').get(1)], [9007199254740993n, null]);
      assert.deepEqual([...column('host')], ['b', 'a']);
      assert.deepEqual([...column('usage')], [1.5, 2]);
    }
  });

  it('is a whole stream: a schema, batches, and its end', async () => {
    const response = await ask('sql', {
      q: 'SELECT host FROM cpu WHERE host = $h',
      params: { h: 'x' },
    });
    assert.deepEqual([...response.bytes.subarray(-8)], [255, 255, 255, 255, 0, 0, 0, 0]);
    const reader = RecordBatchReader.from(response.bytes).open();
    assert.deepEqual(
      reader.schema.fields.map(({ name }) => name),
      ['host'],
    );
    assert.equal(
      [...reader].reduce((sum, { numRows }) => sum + numRows, 0),
      0,
    );
  });

  it('is had by Accept as well, and fails with a status', async () => {
    const accept = 'application/vnd.apache.arrow.stream';
    const response = await server.http.send(
      `/api/v3/query_sql?${new URLSearchParams({ db: 'one', q: 'SELECT 1 AS one' })}`,
      { headers: { accept } },
    );
    assert.equal(response.headers['content-type'], accept);
    assert.equal((await ask('sql', { q: 'SELECT nothing FROM cpu' })).status, 400);
  });
});

describe('queries that run', () => {
  const endless =
    'SELECT sum(a.v * b.v * c.v) FROM generate_series(1, 100000) AS a(v), generate_series(1, 100000) AS b(v), generate_series(1, 1000) AS c(v)';

  it('are listed also as queries of the console, and end when they are canceled', async () => {
    const q = `/* console */ ${endless}`;
    const asked = server.http.send('/api/v3/query_sql', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ db: 'one', q }),
    });
    let found: Json;
    for (let attempt = 0; found === undefined && attempt < 200; attempt++) {
      const { queries } = await get('/ops/v1/tsdb/queries?console=false');
      found = queries.find(({ text }: Json) => text === q);
      if (found === undefined) await new Promise((resolve) => setTimeout(resolve, 25));
    }
    assert.deepEqual([found?.language, found?.running], ['sql', true]);
    const cancelled = await server.http.send(`/ops/v1/tsdb/queries/${found.id}`, {
      method: 'DELETE',
    });
    assert.equal(cancelled.status, 202);
    const response = await asked;
    assert.notEqual(response.status, 200);
    assert.match(response.text, /cancel/);
    // The client receives its error immediately; DuckDB is interrupted shortly afterwards.
    for (let attempt = 0; found.running && attempt < 200; attempt++) {
      const { queries } = await get('/ops/v1/tsdb/queries?limit=50');
      found = queries.find(({ id }: Json) => id === found.id);
      if (found.running) await new Promise((resolve) => setTimeout(resolve, 25));
    }
    assert.equal(found.running, false);
    const again = await server.http.send(`/ops/v1/tsdb/queries/${found.id}`, { method: 'DELETE' });
    assert.equal(again.status, 404);
  });
});

describe('queries of the web console', () => {
  it('are left out on request', async () => {
    for (const q of ['/* console */ SELECT 1001', 'SELECT 1002'])
      await get(`/api/v3/query_sql?${new URLSearchParams({ db: '_internal', format: 'json', q })}`);
    const textsOf = async (search: string): Promise<readonly string[]> => {
      const { queries } = await get(`/ops/v1/tsdb/queries?limit=2${search}`);
      return queries.map(({ db, text }: Json) => `${db}: ${text}`);
    };
    const [last, own] = ['_internal: SELECT 1002', '_internal: /* console */ SELECT 1001'];
    assert.deepEqual(await textsOf(''), [last, own]);
    const others = await textsOf('&console=false');
    assert.deepEqual([others[0], others.includes(own)], [last, false]);
  });
});

describe('saved queries', () => {
  const PATH = '/ops/v1/tsdb/saved-queries';
  const content = { name: 'CPU', db: 'one', lang: 'sql', text: 'SELECT 1', view: { y: 'usage' } };
  const send = async (method: string, path: string, body?: object, headers = {}) =>
    await server.http.send(path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });

  it('are kept, changed by whoever has seen the last state, and forgotten', async () => {
    const made = await send('POST', PATH, content);
    assert.equal(made.status, 201, made.text);
    const saved: Json = JSON.parse(made.text);
    const { id, updated_at, ...rest } = saved;
    assert.match(id, /^[1-9A-HJ-NP-Za-km-z]{8}$/);
    assert.ok(Date.parse(updated_at) <= Date.now());
    const full = { description: '', folder: '', tags: [], ...content, rev: 1, created_by: null };
    assert.deepEqual(rest, full);
    assert.deepEqual(await get(`${PATH}/${id}`), saved);
    assert.deepEqual((await get(PATH)).saved_queries, [saved]);
    const change = { ...content, text: 'SELECT 2' };
    const changed = await send('PUT', `${PATH}/${id}`, change, { 'if-match': '"1"' });
    assert.equal(changed.headers['etag'], '"2"');
    assert.equal(JSON.parse(changed.text).text, 'SELECT 2');
    const late = await send('PUT', `${PATH}/${id}`, change, { 'if-match': '"1"' });
    assert.equal(late.status, 412);
    const listed = await send('PUT', `${PATH}/${id}`, content, { 'if-match': '"1", "2"' });
    assert.equal(listed.headers['etag'], '"3"');
    const foreign = await send('PUT', `${PATH}/${id}`, content, { 'if-match': '"x"' });
    assert.equal(foreign.status, 412);
    assert.equal((await send('DELETE', `${PATH}/${id}`)).status, 204);
    assert.equal((await send('GET', `${PATH}/${id}`)).status, 404);
    assert.equal((await send('DELETE', `${PATH}/${id}`)).status, 404);
  });

  it('are so many that one answer can list them', async () => {
    const long = { ...content, text: 'x'.repeat(65_536) };
    const ids: string[] = [];
    let refused: Awaited<ReturnType<typeof send>> | undefined;
    for (let i = 0; i < 300 && refused === undefined; i++) {
      const made = await send('POST', PATH, { ...long, name: `long ${i}` });
      if (made.status === 201) ids.push(JSON.parse(made.text).id);
      else refused = made;
    }
    assert.equal(refused?.status, 409);
    // 16 MiB of some 65,700 characters each.
    assert.ok(ids.length > 200 && ids.length < 256, `${ids.length}`);
    assert.equal((await get(PATH)).saved_queries.length, ids.length);
    for (const id of ids) assert.equal((await send('DELETE', `${PATH}/${id}`)).status, 204);
    assert.equal((await send('POST', PATH, content)).status, 201);
  });

  it('are refused without a name, in another language, and when they are too long', async () => {
    const { name: _, ...nameless } = content;
    for (const wrong of [
      nameless,
      { ...content, lang: 'flux' },
      { ...content, text: 'x'.repeat(65_537) },
      { ...content, view: { y: 'x'.repeat(16_385) } },
      { ...content, name: 'a\0b' },
    ]) {
      assert.equal((await send('POST', PATH, wrong)).status, 422);
    }
  });
});
