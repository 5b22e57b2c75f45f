// Source: docs/WIDE-QUERIES.md; Trino documentation, "Client protocol". The coordinator here is a plain HTTP server that
// returns prepared pages; `wide-queries-trino.long.test.ts` starts a real one.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { after, before, beforeEach, describe, it } from 'node:test';
import { runCli } from '../../harness/cli.js';
import { freePort, type HttpResponse, ServerInProcess } from '../../harness/index.js';

const FLAGS = ['--services', 'tsdb', '--open-tables-databases', 'home'];
const ROWS = ['room,host=a temp=21.5,n=9007199254740993i,ok=true,s="x" -1', 'room n=1i 5'];
const SQL = 'SELECT host, n, ok, s, temp, time FROM room ORDER BY n DESC';
/** The rows as Trino sends them: NULL is `null`, and large integers are numbers. */
const DATA = '[["a",9007199254740993,true,"x",21.5,-1],[null,1,null,null,null,5]]';
const STATEMENT = [
  'SELECT r0."host" AS c0, r0."n" AS c1, r0."ok" AS c2, r0."s" AS c3, r0."temp" AS c4, r0."time_ns" AS c5 ',
  'FROM "lake"."home__jvm"."room" AS r0 ORDER BY 2 DESC NULLS FIRST',
].join('');
const QUERY = { db: 'home', q: SQL };

/** A page: its body without `nextUri`, which the coordinator adds, or a complete reaction. */
type Page = object | string | ((request: IncomingMessage, response: ServerResponse) => void);

/** Returns its pages one by one, and notes the requests. */
class Coordinator {
  readonly requests: { readonly method: string; readonly url: string; readonly body: string }[] =
    [];
  readonly users = new Set<string | undefined>();
  pages: readonly Page[] = [];
  infoStatus = 200;
  /** Called before the first page is sent. */
  onStatement: () => Promise<void> = async () => undefined;
  readonly #server: Server;
  #sentCount = 0;

  static async start(): Promise<Coordinator> {
    const coordinator = new Coordinator();
    coordinator.#server.listen(0, '127.0.0.1');
    await once(coordinator.#server, 'listening');
    return coordinator;
  }

  private constructor() {
    this.#server = createServer((request, response) => void this.#respond(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get statements(): readonly string[] {
    return this.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
  }

  expect(...pages: readonly Page[]): void {
    this.requests.length = 0;
    this.pages = pages;
    this.infoStatus = 200;
    this.#sentCount = 0;
    this.onStatement = async () => undefined;
  }

  async untilDeleted(): Promise<string> {
    for (let round = 0; round < 200; round++) {
      const found = this.requests.find(({ method }) => method === 'DELETE');
      if (found !== undefined) return found.url;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error('the query was not canceled');
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    if (url === '/v1/info') {
      response.writeHead(this.infoStatus).end('{"starting":false}');
      return;
    }
    this.requests.push({ method, url, body: await readText(request) });
    this.users.add(request.headers['x-trino-user']?.toString());
    if (method === 'DELETE') {
      response.writeHead(204).end();
      return;
    }
    if (method === 'POST') await this.onStatement();
    const page = this.pages[this.#sentCount++];
    if (typeof page === 'function') return page(request, response);
    const nextUri = `${this.url}/v1/statement/executing/q1/${this.#sentCount}`;
    const isLast = this.#sentCount >= this.pages.length;
    const head = { id: 'q1', ...(isLast ? {} : { nextUri }) };
    const body =
      typeof page === 'string'
        ? `${JSON.stringify(head).slice(0, -1)},"data":${page}}`
        : JSON.stringify({ ...head, ...page });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  }
}

const failure = (errorType: string, message: string): object => ({
  error: { message, errorCode: 1, errorName: 'X', errorType, failureInfo: {} },
});

let trino: Coordinator;
let server: ServerInProcess;
let admin = '';
let reader = '';
let stranger = '';

async function send(
  on: ServerInProcess,
  path: string,
  options: { token?: string; body?: string; json?: object; signal?: AbortSignal } = {},
): Promise<HttpResponse> {
  const { token = admin, json, signal } = options;
  const body = json === undefined ? options.body : JSON.stringify(json);
  return await on.http.send(path, {
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
    ...(signal !== undefined && { signal }),
  });
}

const query = (json: object, options: { token?: string; signal?: AbortSignal } = {}) =>
  send(server, '/api/v3/query_sql', { json: { ...QUERY, engine: 'trino', ...json }, ...options });

const errorOf = ({ text }: HttpResponse): string => JSON.parse(text).error;

async function tokenFor(database: string): Promise<string> {
  const response = await send(server, '/api/v3/enterprise/configure/token', {
    json: {
      token_name: `reader-${database}`,
      permissions: [{ resource_type: 'db', resource_identifier: [database], actions: ['read'] }],
    },
  });
  assert.equal(response.status, 201, response.text);
  return JSON.parse(response.text).token;
}

async function write(on: ServerInProcess, lines: readonly string[], db = 'home'): Promise<void> {
  const path = `/api/v3/write_lp?db=${db}&precision=nanosecond`;
  const written = await send(on, path, { body: lines.join('\n') });
  assert.equal(written.status, 204, written.text);
}

before(async () => {
  trino = await Coordinator.start();
  const url = `${trino.url.replace('//', '//ann@')}/lake`;
  server = await ServerInProcess.start({ flags: [...FLAGS, '--query-wide-url', url] });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = JSON.parse(made.text).token;
  await write(server, ROWS);
  await write(server, ['o v=1 1'], 'other');
  reader = await tokenFor('home');
  stranger = await tokenFor('other');
});
after(async () => {
  await server.close();
  trino.close();
});
beforeEach(() => trino.expect());

describe('results', () => {
  for (const format of ['json', 'json_rows', 'jsonl', 'csv', 'pretty', 'arrow']) {
    it(`are those of the local query in the format ${format}`, async () => {
      const local = await send(server, '/api/v3/query_sql', { json: { ...QUERY, format } });
      trino.expect({ stats: { state: 'QUEUED' } }, { columns: [] }, DATA, {});
      const wide = await query({ format }, { token: reader });
      assert.equal(wide.status, 200, wide.text);
      if (format === 'arrow') assert.ok(wide.bytes.length > 0);
      else assert.equal(wide.text, local.text);
      assert.equal(wide.headers['content-type'], local.headers['content-type']);
      assert.deepEqual(trino.statements, [STATEMENT]);
      assert.deepEqual([...trino.users], ['ann']);
      const freshThrough = wide.headers['x-plinth-fresh-through'];
      assert.match(String(freshThrough), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    });
  }

  it('are the same for GET', async () => {
    trino.expect(DATA);
    const path = `/api/v3/query_sql?db=home&engine=trino&format=csv&q=${encodeURIComponent(SQL)}`;
    const wide = await send(server, path);
    const local = await send(server, '/api/v3/query_sql', { json: { ...QUERY, format: 'csv' } });
    assert.equal(wide.text, local.text);
  });

  it('pass through temporary failures of the coordinator', async () => {
    const busy: Page = (_request, response) => void response.writeHead(503).end();
    trino.expect({}, busy, busy, DATA);
    const wide = await query({ format: 'jsonl' });
    assert.equal(wide.status, 200, wide.text);
    assert.equal(wide.text.split('\n').length, 3);
  });
});

it('is the option --engine of plinth query', async () => {
  const plinth = (...args: readonly string[]) =>
    runCli(['query', '--host', server.url, '-d', 'home', '--token', admin, ...args]);
  trino.expect('[[2]]');
  const run = await plinth('--engine', 'trino', '-f', 'csv', 'SELECT count(*) AS c FROM room');
  assert.deepEqual([run.code, run.stdout, trino.statements.length], [0, 'c\n2\n', 1], run.stderr);
  const refused = await plinth('--engine', 'trino', '-l', 'influxql', 'SHOW MEASUREMENTS');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--engine needs --language sql/);
});

it('flushes and publishes rows before the statement is sent', async () => {
  await write(server, ['fresh v=1i 1', 'fresh v=2i 2']);
  let published: string | undefined;
  trino.expect('[[2]]');
  trino.onStatement = async () => {
    const { text } = await send(server, '/ops/v1/tsdb/open-tables?db=home');
    const tables: { table: string; row_count: number; state: string }[] = JSON.parse(text).tables;
    const found = tables.find(({ table }) => table === 'fresh');
    published = `${found?.state} ${found?.row_count}`;
  };
  const wide = await query({ q: 'SELECT count(*) AS c FROM fresh', format: 'csv' });
  assert.equal(wide.text, 'c\n2\n');
  assert.equal(published, 'published 2');
});

it('returns the errors of the local query without permission', async () => {
  for (const token of [stranger, '']) {
    const local = await send(server, '/api/v3/query_sql', { json: QUERY, token });
    const wide = await query({}, { token });
    assert.equal(wide.status, local.status);
    assert.equal(wide.text, local.text);
    assert.ok(wide.status === 401 || wide.status === 403, String(wide.status));
  }
  assert.deepEqual(trino.requests, []);
});

it('rejects what Trino cannot run, by name, and sends nothing', async () => {
  const refuses = async (json: object, message: string) => {
    const response = await query(json);
    assert.equal(response.status, 400, response.text);
    assert.equal(errorOf(response), message);
  };
  await refuses(
    { q: 'SELECT median(n) FROM room' },
    'function median is not verified for trino; omit engine=trino',
  );
  await refuses(
    { q: 'SELECT x FROM room' },
    'Schema error: No field named x. Valid fields are room.host, room.n, room.ok, room.s, room.temp, room.time.',
  );
  await refuses({ engine: 'spark' }, 'unknown engine "spark"; use duckdb or trino');
  await refuses(
    { format: 'parquet' },
    'format parquet is not available with engine=trino; use arrow, csv, json or jsonl',
  );
  await refuses(
    { db: 'other', q: 'SELECT v FROM o' },
    'Trino cannot read database other: it is not published; add it to open_tables.databases',
  );
  for (const path of ['/api/v3/query_influxql', '/api/v3/query_legacyql']) {
    const json = { db: 'home', q: 'SELECT n FROM room', engine: 'trino' };
    const refused = await send(server, path, { json });
    assert.equal(refused.status, 400);
    assert.equal(errorOf(refused), 'engine=trino runs only SQL; omit engine for InfluxQL');
    const local = await send(server, path, { json: { ...json, engine: 'duckdb' } });
    assert.equal(local.status, 200);
  }
  await write(server, ['odd$files v=1 1']);
  await refuses(
    { q: 'SELECT v FROM "odd$files"' },
    'Trino cannot read table odd$files: the name contains $ or @',
  );
  assert.deepEqual(trino.requests, []);
});

it('rejects names that Trino reads as the name of other data', async () => {
  await write(server, ['CPU v=1 1', 'cpu v=2 1', 'Cpu2 v=3 1']);
  const response = await query({ q: 'SELECT v FROM "CPU"' });
  assert.equal(response.status, 400);
  const why = 'the names CPU and cpu differ only in case; rename one of them';
  assert.equal(errorOf(response), `Trino cannot read table CPU: ${why}`);
  trino.expect('[[3]]');
  assert.equal((await query({ q: 'SELECT v FROM "Cpu2"' })).status, 200);
  trino.expect();
  const published = 'home,Home,shop/week';
  const other = await ServerInProcess.start({
    flags: [
      ...['--services', 'tsdb', '--open-tables-databases', published, '--without-auth'],
      ...['--query-wide-url', trino.url, '--query-wide-bytes', '1'],
    ],
  });
  try {
    await write(other, ROWS);
    const run = (json: object) =>
      send(other, '/api/v3/query_sql', { json: { ...QUERY, format: 'csv', ...json } });
    assert.equal((await run({ engine: 'trino', q: 'SELECT median(n) FROM room' })).status, 400);
    await write(other, ['room n=3i 1'], 'Home');
    for (const [db, clash] of [
      ['home', 'home__jvm and Home__jvm'],
      ['Home', 'Home__jvm and home__jvm'],
    ]) {
      const refused = await run({ db, engine: 'trino', q: 'SELECT n FROM room' });
      assert.equal(refused.status, 400);
      assert.equal(
        errorOf(refused),
        `Trino cannot read database ${db}: the namespaces ${clash} differ only in case; publish only one`,
      );
    }
    await send(other, '/ops/v1/tsdb/open-tables/publish', { json: { db: 'Home' } });
    const local = await run({ db: 'Home', q: 'SELECT sum(n) AS n FROM room' });
    assert.equal(local.text, 'n\n3\n');
    await write(other, ['room n=4i 1'], 'shop/week');
    const policy = await run({ db: 'shop/week', engine: 'trino', q: 'SELECT n FROM room' });
    assert.equal(policy.status, 400);
    assert.equal(
      errorOf(policy),
      'Trino cannot read database shop/week: a retention policy is not verified for trino; omit engine=trino',
    );
    assert.deepEqual(trino.requests, []);
  } finally {
    await other.close();
  }
});

it('requires an endpoint', async () => {
  const other = await ServerInProcess.start({ flags: [...FLAGS, '--without-auth'] });
  try {
    await write(other, ROWS);
    const response = await send(other, '/api/v3/query_sql', {
      json: { ...QUERY, engine: 'trino' },
    });
    assert.equal(response.status, 400);
    assert.equal(
      errorOf(response),
      'engine=trino needs a Trino coordinator; set query.wide_url to its address, such as http://trino:8080',
    );
    const local = await send(other, '/api/v3/query_sql', { json: { ...QUERY, engine: 'duckdb' } });
    assert.equal(local.status, 200);
  } finally {
    await other.close();
  }
});

describe('failures', () => {
  const fails = async (pages: readonly Page[], status: number, message: string) => {
    trino.expect(...pages);
    const response = await query({});
    assert.equal(response.status, status, response.text);
    assert.equal(errorOf(response), message);
  };
  const executing = 'query error: error while executing plan: ';

  it('of statements have the status of their cause', async () => {
    await fails(
      [{}, failure('USER_ERROR', 'Division by zero')],
      400,
      `${executing}Trino: Division by zero`,
    );
    await fails(
      [failure('INSUFFICIENT_RESOURCES', 'Query exceeded memory')],
      503,
      `${executing}Trino: Query exceeded memory`,
    );
    await fails(
      [{}, {}, failure('INTERNAL_ERROR', 'Worker node is gone')],
      500,
      `${executing}Trino: X in query q1`,
    );
  });

  it('of the coordinator name its address', async () => {
    const denied: Page = (_request, response) => void response.writeHead(401).end();
    await fails(
      [denied],
      503,
      `Trino at ${trino.url} is not available: it returned 401; check query.wide_url`,
    );
    const lost: Page = (request) => void request.socket.destroy();
    trino.expect(lost, lost); // a kept connection is replaced once
    const response = await query({});
    assert.equal(response.status, 503);
    assert.ok(errorOf(response).startsWith(`Trino at ${trino.url} is not available: `));
  });

  it('are reported for invalid responses', async () => {
    const invalid = `${executing}Trino sent an invalid response: `;
    const raw =
      (text: string): Page =>
      (_request, response) =>
        void response.writeHead(200).end(text);
    await fails([raw('{"id": ')], 500, `${invalid}not a JSON object`);
    await fails([raw('[1]')], 500, `${invalid}not a JSON object`);
    await fails([raw('{"id":"\\')], 500, `${invalid}not a JSON object`);
    await fails(['[[1]]'], 500, `${invalid}data has no rows of 6 columns`);
    await fails(
      ['[["a","one",true,"x",1.5,1]]'],
      500,
      `${invalid}column n has a value of another type`,
    );
    await fails(
      [{ nextUri: 'http://192.0.2.1/v1/statement/q/1' }, {}],
      500,
      `${invalid}nextUri is not an address of the endpoint`,
    );
    const huge = `{"id":"q","x":"${'x'.repeat(17 * 1024 * 1024)}"}`;
    await fails([raw(huge)], 500, `${executing}Trino: a page exceeds 16777216 bytes`);
  });

  it('of an endpoint that is not there or hangs take at most five seconds', async () => {
    const closedUrl = `http://127.0.0.1:${await freePort()}`;
    const flags = [...FLAGS, '--without-auth', '--query-wide-url', closedUrl];
    const other = await ServerInProcess.start({ flags });
    try {
      await write(other, ROWS);
      const response = await send(other, '/api/v3/query_sql', {
        json: { ...QUERY, engine: 'trino' },
      });
      assert.equal(response.status, 503);
      assert.match(errorOf(response), new RegExp(`^Trino at ${closedUrl} is not available: `));
      const { text } = await send(other, '/ops/v1/tsdb/open-tables?db=home');
      const states = JSON.parse(text).tables.map(({ state }: { state: string }) => state);
      assert.deepEqual(new Set(states), new Set(['empty'])); // nothing was flushed
    } finally {
      await other.close();
    }
    trino.expect(() => undefined);
    const startMs = performance.now();
    const response = await query({});
    assert.ok(performance.now() - startMs < 5500);
    assert.equal(response.status, 503);
    assert.equal(
      errorOf(response),
      `Trino at ${trino.url} is not available: no response in time; check query.wide_url`,
    );
  });
});

describe('cancellation', () => {
  const hang: Page = () => undefined;

  it('reaches Trino when the client disconnects', async () => {
    trino.expect({}, hang, {});
    const client = new AbortController();
    const running = query({}, { signal: client.signal }).catch(() => undefined);
    await untilRequests(2);
    client.abort();
    await running;
    assert.equal(await trino.untilDeleted(), '/v1/statement/executing/q1/1');
  });

  it('reaches Trino when an operator cancels the query', async () => {
    trino.expect({}, hang, {});
    const running = query({});
    await untilRequests(2);
    const { text } = await send(server, '/ops/v1/tsdb/queries?running=true');
    const entry = JSON.parse(text).queries.find((each: { text: string }) => each.text === SQL);
    const canceled = await server.http.send(`/ops/v1/tsdb/queries/${entry.id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${admin}` },
    });
    assert.equal(canceled.status, 202);
    const response = await running;
    assert.equal(response.status, 500);
    assert.equal(errorOf(response), 'query cancelled');
    await trino.untilDeleted();
  });

  it('reaches Trino at the time limit', async () => {
    const flags = [...FLAGS, '--without-auth', '--query-wide-url', trino.url];
    const other = await ServerInProcess.start({
      flags: [...flags, '--tsdb-query-timeout-ms', '3000'],
    });
    try {
      await write(other, ROWS);
      await send(other, '/ops/v1/tsdb/open-tables/publish', { json: { db: 'home' } });
      trino.expect({}, hang, {});
      const response = await send(other, '/api/v3/query_sql', {
        json: { ...QUERY, engine: 'trino' },
      });
      assert.equal(response.status, 500);
      assert.equal(errorOf(response), 'query-timeout limit exceeded: 3000 ms');
      await trino.untilDeleted();
    } finally {
      await other.close();
    }
  });

  async function untilRequests(count: number): Promise<void> {
    for (let round = 0; round < 200 && trino.requests.length < count; round++)
      await new Promise((resolve) => setTimeout(resolve, 25));
    assert.ok(trino.requests.length >= count);
  }
});

it('sends statements with many segments to Trino without a parameter', async () => {
  const flags = [...FLAGS, '--without-auth', '--query-wide-url', trino.url];
  const other = await ServerInProcess.start({ flags: [...flags, '--query-wide-bytes', '1'] });
  const run = async (json: object, requestCount: number) => {
    trino.expect('[[7]]');
    const response = await send(other, '/api/v3/query_sql', {
      json: { db: 'home', format: 'csv', ...json },
    });
    assert.equal(response.status, 200, response.text);
    assert.equal(trino.requests.length, requestCount, JSON.stringify(json));
    return response.text;
  };
  try {
    await write(other, ROWS);
    const q = 'SELECT count(*) AS c FROM room';
    assert.equal(await run({ q }, 0), 'c\n2\n'); // no segment yet
    await send(other, '/ops/v1/tsdb/open-tables/publish', { json: { db: 'home' } });
    assert.equal(await run({ q }, 1), 'c\n7\n');
    assert.equal(await run({ q, engine: 'duckdb' }, 0), 'c\n2\n');
    assert.equal(await run({ q: 'SELECT count(*) AS c FROM room WHERE time > 100' }, 0), 'c\n0\n');
    assert.equal(await run({ q: 'SELECT median(n) AS c FROM room WHERE n < 5' }, 0), 'c\n1\n');
    const fallsBack = async (status: number, format: string, ...pages: readonly Page[]) => {
      trino.expect(...pages);
      const json = { db: 'home', format, q };
      const response = await send(other, '/api/v3/query_sql', { json });
      assert.equal(response.status, status, response.text);
      assert.ok(trino.requests.length > 0);
      return response.text;
    };
    const busy: Page = (_request, response) => void response.writeHead(503).end();
    const unsupported = failure('USER_ERROR', 'Unsupported expression');
    assert.equal(await fallsBack(200, 'csv', {}, unsupported), 'c\n2\n');
    assert.equal(await fallsBack(200, 'csv', busy), 'c\n2\n');
    await fallsBack(200, 'arrow', {}, unsupported);
    await fallsBack(500, 'csv', {}, failure('INTERNAL_ERROR', 'Worker node is gone'));
    await write(other, ['room n=2i 6']);
    trino.expect();
    trino.infoStatus = 503;
    const json = { db: 'home', format: 'csv', q };
    assert.equal((await send(other, '/api/v3/query_sql', { json })).text, 'c\n3\n');
    assert.deepEqual(trino.requests, []);
  } finally {
    await other.close();
  }
});
