// Source: Apache Iceberg REST catalog specification; docs/OPEN-TABLES.md, "Catalog".
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, it } from 'node:test';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';

const V1 = '/iceberg/v1';
let server: ServerInProcess;
let admin = '';
let homeToken = '';

before(async () => {
  const flags = ['--services', 'tsdb', '--open-tables-databases', 'home,home/week,other,twin'];
  server = await ServerInProcess.start({ flags });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = JSON.parse(made.text).token;
  const token = await send('/api/v3/enterprise/configure/token', {
    json: {
      token_name: 'reader',
      permissions: [{ resource_type: 'db', resource_identifier: ['home'], actions: ['read'] }],
    },
  });
  assert.equal(token.status, 201, token.text);
  homeToken = JSON.parse(token.text).token;
  for (const [db, lines] of [
    ['home', 'room,host=a v=1i,u=1u 1\nroom,host=b v=2i 2'],
    ['home', 'alpha v=1 1\nbeta v=1 1'],
    ['home', 'a/b v=1 1'],
    ['home/week', 'w v=1 1'],
    ['other', 'o v=1 1'],
    ['twin', 't v=1 1'],
    ['twin__jvm', 't v=1 1'],
    ['unpublished', 'm v=1 1'],
  ] as const) {
    const written = await send(`/api/v3/write_lp?db=${db}&precision=nanosecond`, { body: lines });
    assert.equal(written.status, 204, written.text);
  }
  for (const db of ['home', 'home/week', 'other', 'twin']) {
    const published = await send('/ops/v1/tsdb/open-tables/publish', { json: { db } });
    assert.equal(published.status, 200, published.text);
  }
});
after(() => server.close());

function send(
  path: string,
  options: { token?: string; method?: string; body?: string; json?: object } = {},
): Promise<HttpResponse> {
  const { token = admin, json } = options;
  const body = json === undefined ? options.body : JSON.stringify(json);
  const method = options.method ?? (body === undefined ? 'GET' : 'POST');
  return server.http.send(path, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  });
}

// biome-ignore lint/suspicious/noExplicitAny: members of response bodies.
async function get(path: string, token = admin): Promise<any> {
  const { status, text } = await send(`${V1}${path}`, { token });
  assert.equal(status, 200, text);
  return JSON.parse(text);
}

async function refused(
  path: string,
  expected: { code: number; type: string },
  options: Parameters<typeof send>[1] = {},
): Promise<void> {
  const { status, text } = await send(`${V1}${path}`, options);
  assert.equal(status, expected.code, text);
  const { error } = JSON.parse(text);
  assert.deepEqual({ code: error.code, type: error.type }, expected);
  assert.notEqual(error.message, '');
}

it('names the endpoints that clients may use', async () => {
  const { defaults, overrides, endpoints } = await get('/config');
  assert.deepEqual({ defaults, overrides }, { defaults: {}, overrides: {} });
  assert.deepEqual(endpoints, [
    'GET /v1/{prefix}/namespaces',
    'GET /v1/{prefix}/namespaces/{namespace}',
    'HEAD /v1/{prefix}/namespaces/{namespace}',
    'GET /v1/{prefix}/namespaces/{namespace}/tables',
    'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
    'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  ]);
});

it('lists two namespaces for each published database, unless one is a database', async () => {
  const { namespaces } = await get('/namespaces');
  const names = ['home', 'home.week', 'home.week__jvm', 'home__jvm', 'other', 'other__jvm', 'twin'];
  assert.deepEqual(
    namespaces,
    names.map((name) => [name]),
  );
  assert.deepEqual((await get('/namespaces?parent=home')).namespaces, []);
  const { namespace } = await get('/namespaces/home__jvm');
  assert.deepEqual(namespace, ['home__jvm']);
});

it('lists the tables of a namespace whose names readers can express', async () => {
  const { identifiers } = await get('/namespaces/home/tables');
  assert.deepEqual(
    identifiers,
    ['alpha', 'beta', 'room'].map((name) => ({ namespace: ['home'], name })),
  );
});

it('pages by the last name', async () => {
  const first = await get('/namespaces/home/tables?pageSize=2');
  assert.equal(first.identifiers.length, 2);
  const token = first['next-page-token'];
  const second = await get(`/namespaces/home/tables?pageSize=2&pageToken=${token}`);
  assert.deepEqual(
    second.identifiers.map(({ name }: { name: string }) => name),
    ['room'],
  );
  assert.equal(second['next-page-token'], null);
  const bad = { code: 400, type: 'BadRequestException' };
  await refused('/namespaces?pageSize=0', bad);
  await refused('/namespaces?pageSize=x', bad);
  await refused('/namespaces?pageToken=%21', bad);
});

it('returns the newest metadata file of both namespaces', async () => {
  for (const [namespace, version, time] of [
    ['home', 3, 'time'],
    ['home__jvm', 2, 'time_ns'],
  ] as const) {
    const response = await get(`/namespaces/${namespace}/tables/room`);
    const stored = await readFile(response['metadata-location'].replace('file://', ''), 'utf8');
    assert.deepEqual(response.metadata, JSON.parse(stored));
    assert.equal(response.metadata['format-version'], version);
    assert.equal(response.metadata.schemas[0].fields[0].name, time);
    assert.match(response.metadata.properties['plinth.absent'], /"column":"u"/);
    assert.deepEqual(response.config, {});
  }
});

it('finds a retention policy by a name with a dot or of two parts', async () => {
  const whole = await get('/namespaces/home.week/tables/w');
  const parts = await get('/namespaces/home%1Fweek/tables/w');
  assert.deepEqual(parts, whole);
});

it('responds to HEAD without a body', async () => {
  for (const [path, status] of [
    ['/namespaces/home', 204],
    ['/namespaces/home/tables/room', 204],
    ['/namespaces/nope', 404],
    ['/namespaces/home/tables/nope', 404],
  ] as const) {
    const response = await send(`${V1}${path}`, { method: 'HEAD' });
    assert.equal(response.status, status, path);
    assert.equal(response.text, '');
  }
});

it('returns the errors of the specification', async () => {
  const noNamespace = { code: 404, type: 'NoSuchNamespaceException' };
  await refused('/namespaces/nope', noNamespace);
  await refused('/namespaces/unpublished', noNamespace);
  await refused('/namespaces/twin__jvm', noNamespace);
  await refused('/namespaces/nope/tables', noNamespace);
  // Source: Iceberg REST catalog specification, `loadTable`: the namespace has no error of its own.
  for (const path of ['/namespaces/home/tables/nope', '/namespaces/home%1Froom/tables/snapshots'])
    await refused(path, { code: 404, type: 'NoSuchTableException' });
  await refused('/nope', { code: 404, type: 'NotFoundException' });
  const unauthenticated = { code: 401, type: 'NotAuthorizedException' };
  for (const path of ['/config', '/namespaces', '/namespaces/home/tables/room', '/nope']) {
    await refused(path, unauthenticated, { token: '' });
    await refused(path, unauthenticated, { token: 'wrong' });
    const { text } = await send(`${V1}${path}`, { token: 'wrong' });
    assert.equal(JSON.parse(text).error.message, 'the request was not authenticated');
  }
});

it('forbids every change', async () => {
  const forbidden = { code: 403, type: 'ForbiddenException' };
  const json = {};
  for (const [method, path] of [
    ['POST', '/namespaces'],
    ['POST', '/namespaces/home/tables'],
    ['POST', '/namespaces/home/tables/room'],
    ['DELETE', '/namespaces/home/tables/room'],
    ['DELETE', '/namespaces/home'],
    ['POST', '/tables/rename'],
    ['POST', '/namespaces/home/properties'],
  ] as const)
    await refused(path, forbidden, { method, ...(method === 'POST' && { json }) });
  await refused('/namespaces', { code: 401, type: 'NotAuthorizedException' }, { token: '', json });
});

it('shows a token only the databases that it may read', async () => {
  const { namespaces } = await get('/namespaces', homeToken);
  assert.deepEqual(
    namespaces.flat(),
    ['home', 'home.week', 'home.week__jvm', 'home__jvm'],
    'with the retention policies',
  );
  await get('/namespaces/home/tables/room', homeToken);
  const noNamespace = { code: 404, type: 'NoSuchNamespaceException' };
  for (const path of ['', '/tables'])
    await refused(`/namespaces/other${path}`, noNamespace, { token: homeToken });
  const noTable = { code: 404, type: 'NoSuchTableException' };
  await refused('/namespaces/other/tables/o', noTable, { token: homeToken });
  const state = await send('/ops/v1/tsdb/open-tables', { token: homeToken });
  assert.equal(state.status, 403, 'operators only');
});

it('hides a table at once when it is deleted', async () => {
  await send('/api/v3/write_lp?db=other', { body: 'gone v=1' });
  await send('/ops/v1/tsdb/open-tables/publish', { json: { db: 'other', table: 'gone' } });
  await get('/namespaces/other/tables/gone');
  await send('/api/v3/configure/table?db=other&table=gone', { method: 'DELETE' });
  await refused('/namespaces/other/tables/gone', { code: 404, type: 'NoSuchTableException' });
});

it('reports the state of tables to operators and in SQL', async () => {
  const { text } = await send('/ops/v1/tsdb/open-tables?db=home');
  const { tables } = JSON.parse(text);
  const room = tables.filter(({ table }: { table: string }) => table === 'room');
  assert.deepEqual(
    // biome-ignore lint/suspicious/noExplicitAny: members of a response body.
    room.map((each: any) => [each.namespace, each.format_version, each.state, each.row_count]),
    [
      ['home', 3, 'published', 2],
      ['home__jvm', 2, 'published', 2],
    ],
  );
  assert.deepEqual(room[0].absent_columns, ['u']);
  const odd = tables.find(({ table }: { table: string }) => table === 'a/b');
  assert.deepEqual(
    [odd.state, odd.version, odd.reason],
    ['unpublishable', null, 'the name contains a slash'],
  );
  const q = encodeURIComponent(
    "SELECT namespace, state, row_count, absent_columns FROM system.published_tables WHERE table_name = 'room'",
  );
  const sql = await send(`/api/v3/query_sql?db=home&format=jsonl&q=${q}`);
  assert.deepEqual(
    sql.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    ['home', 'home__jvm'].map((namespace) => ({
      ...{ namespace, state: 'published', row_count: 2, absent_columns: 'u' },
    })),
  );
});

it('refuses to publish what it cannot', async () => {
  for (const [json, status, message] of [
    [{ db: 'nope' }, 404, 'database not found: nope'],
    [{ db: 'home', table: 'nope' }, 404, 'table not found: home.nope'],
    [{ db: 'unpublished' }, 409, /not published; add it to the setting open_tables.databases/],
    [{ db: 'home', table: 'a/b' }, 422, /cannot be published: the name contains a slash/],
  ] as const) {
    const response = await send('/ops/v1/tsdb/open-tables/publish', { json });
    assert.equal(response.status, status, response.text);
    assert.match(JSON.parse(response.text).message, new RegExp(message));
  }
});
