// Source: docs/SECURITY-CREDENTIALS.md, "Revocation".
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { encode, FlightClient, jsonTicket } from '../../harness/flight-client.js';
import { LiveStream, ServerInProcess } from '../../harness/index.js';

type Headers = Readonly<Record<string, string>>;

const ROW_COUNT = 2000;
/** Runs for minutes and returns no rows until it ends. */
const ENDLESS = 'SELECT count(*) FROM m a, m b, m c WHERE a.v + b.v + c.v < 0';
/** Four million rows. */
const LARGE = 'SELECT a.v, b.v AS w FROM m a, m b';
/** The documented second, and another second for a busy machine. */
const MAX_END_MS = 2000;

let server: ServerInProcess;
let admin: Headers = {};
before(async () => {
  server = await ServerInProcess.start({ flags: [] });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = { authorization: `Bearer ${JSON.parse(made.text).token}` };
  const lines = Array.from({ length: ROW_COUNT }, (_, i) => `m,h=a v=${i} ${i + 1}`);
  const written = await server.http.send('/write?db=d', { headers: admin, body: lines.join('\n') });
  assert.equal(written.status, 204, written.text);
});
after(async () => await server.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const PERMISSIONS = [{ resource_type: 'db', resource_identifier: ['d'], actions: ['read'] }];

async function tokenOf(name: string, more: object = {}): Promise<Headers> {
  const response = await server.http.send('/api/v3/enterprise/configure/token', {
    headers: { ...admin, ...JSON_TYPE },
    body: JSON.stringify({ token_name: name, permissions: PERMISSIONS, ...more }),
  });
  assert.equal(response.status, 201, response.text);
  return { authorization: `Bearer ${JSON.parse(response.text).token}` };
}
const deleteToken = async (name: string): Promise<void> => {
  const path = `/api/v3/configure/token?token_name=${name}`;
  assert.equal((await server.http.send(path, { method: 'DELETE', headers: admin })).status, 200);
};
const statement = async (q: string): Promise<void> => {
  const path = `/query?${new URLSearchParams({ q })}`;
  assert.equal((await server.http.send(path, { method: 'POST', headers: admin })).status, 200);
};

/** A request whose response is not read. */
class OpenRequest {
  readonly ended: Promise<number>;
  response: IncomingMessage | undefined;
  readonly #request: ClientRequest;

  constructor(path: string, headers: Headers) {
    this.#request = request(`${server.url}${path}`, { headers, agent: false });
    this.ended = new Promise((resolve) => {
      const end = (): void => resolve(performance.now());
      this.#request.on('response', (response) => {
        this.response = response;
        response.on('error', () => undefined);
        response.on('close', end);
      });
      this.#request.on('error', end);
    });
    this.#request.end();
  }

  /** Reads the remaining response, so that its end is detected. */
  read(): void {
    if (this.response !== undefined) this.response.resume();
    else this.#request.on('response', (response) => response.resume());
  }
}

const sqlPath = (q: string): string =>
  `/api/v3/query_sql?${new URLSearchParams({ db: 'd', q, format: 'csv' })}`;
const influxqlPath = `/query?${new URLSearchParams({
  db: 'd',
  chunked: 'true',
  q: Array.from({ length: 400 }, () => 'SELECT sum(v) FROM m GROUP BY time(1ns) FILL(0)').join(';'),
})}`;

async function running(): Promise<number> {
  const response = await server.http.send('/ops/v1/tsdb/queries?limit=100', { headers: admin });
  const queries = JSON.parse(response.text) as
    | { phase: string }[]
    | { queries: { phase: string }[] };
  const list = Array.isArray(queries) ? queries : queries.queries;
  return list.filter(({ phase }) => !['success', 'fail', 'cancel'].includes(phase)).length;
}
async function untilRunning(count: number): Promise<void> {
  for (let i = 0; i < 100 && (await running()) !== count; i++) await sleep(50);
  assert.equal(await running(), count);
}

/** Deletes the credential, then waits until the requests that it started have ended. */
async function assertEnds(ended: Promise<unknown>, revoke: () => Promise<void>): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await sleep(300);
  assert.equal(isOver, false, 'it runs before');
  await revoke();
  const startMs = performance.now();
  await Promise.race([ended, sleep(MAX_END_MS)]);
  assert.equal(isOver, true, `not over ${Math.round(performance.now() - startMs)} ms later`);
}

it('a token is refused from its expiry on', async () => {
  const headers = await tokenOf('short', { expiry_secs: 1 });
  const path = sqlPath('SELECT count(*) FROM m');
  assert.equal((await server.http.send(path, { headers })).status, 200);
  await sleep(1100);
  assert.equal((await server.http.send(path, { headers })).status, 401);
  assert.equal((await server.http.send('/write?db=d', { headers, body: 'm v=1' })).status, 401);
});

describe('what runs when its token or user is deleted', () => {
  it('a statement ends', async () => {
    const open = new OpenRequest(sqlPath(ENDLESS), await tokenOf('sql'));
    const others = new OpenRequest(sqlPath(ENDLESS), await tokenOf('others'));
    await untilRunning(2);
    open.read();
    await assertEnds(open.ended, () => deleteToken('sql'));
    assert.equal(await running(), 1, 'that of another token goes on');
    others.read();
    await assertEnds(others.ended, () => deleteToken('others'));
    await untilRunning(0);
  });

  it('a statement without rows receives the response of a deleted token', async () => {
    const headers = await tokenOf('whole');
    const open = server.http.send(sqlPath(ENDLESS), { headers });
    await untilRunning(1);
    await deleteToken('whole');
    const ended = await open;
    const later = await server.http.send(sqlPath(ENDLESS), { headers });
    assert.equal(ended.status, 401, ended.text);
    assert.equal(ended.text, later.text);
    const name = 'www-authenticate';
    assert.equal(ended.headers[name], later.headers[name]);
    await untilRunning(0);
  });

  it('a response ends that its client has not read', async () => {
    const open = new OpenRequest(sqlPath(LARGE), await tokenOf('slow'));
    await untilRunning(1);
    await sleep(300);
    await deleteToken('slow');
    await untilRunning(0);
    open.read();
    await open.ended;
    assert.equal(open.response?.complete, false, 'the client sees that it is cut');
  });

  it('statements of InfluxQL end, also those of a user', async () => {
    await statement("CREATE USER ann WITH PASSWORD 'a'");
    await statement('GRANT READ ON d TO ann');
    const basic = { authorization: `Basic ${Buffer.from('ann:a').toString('base64')}` };
    const open = new OpenRequest(influxqlPath, basic);
    await untilRunning(1);
    await statement('DROP USER ann');
    await untilRunning(0);
    open.read();
    await open.ended;
  });

  it('statements of a user end when it loses a permission or its password', async () => {
    await statement("CREATE USER bob WITH PASSWORD 'a'");
    await statement('GRANT READ ON d TO bob');
    const basic = { authorization: `Basic ${Buffer.from('bob:a').toString('base64')}` };
    const open = async () => {
      const response = server.http.send(sqlPath(ENDLESS), { headers: basic });
      await untilRunning(1);
      return { response };
    };
    const first = await open();
    await statement('GRANT ALL ON d TO bob');
    await sleep(MAX_END_MS);
    assert.equal(await running(), 1, 'a further permission');
    await statement('REVOKE READ ON d FROM bob');
    assert.equal((await first.response).status, 401);
    await statement('GRANT READ ON d TO bob');
    const second = await open();
    await statement("SET PASSWORD FOR bob = 'b'");
    assert.equal((await second.response).status, 401);
    await untilRunning(0);
    await statement('DROP USER bob');
  });

  it('a stream of Flight ends', async () => {
    const flight = new FlightClient(server.url);
    const ticket = jsonTicket({ database: 'd', sql_query: ENDLESS, query_type: 'sql' });
    const metadata = await tokenOf('flight');
    const stream = flight.stream('DoGet', encode('Ticket', { ticket }), { metadata });
    const ended = once(stream, 'error');
    await untilRunning(1);
    await assertEnds(ended, () => deleteToken('flight'));
    flight.close();
    await untilRunning(0);
  });

  it('a live stream of the operator ends', async () => {
    const made = await server.http.send('/api/v3/configure/token/named_admin', {
      headers: { ...admin, ...JSON_TYPE },
      body: JSON.stringify({ token_name: 'op' }),
    });
    assert.equal(made.status, 201, made.text);
    const headers = { authorization: `Bearer ${JSON.parse(made.text).token}` };
    const live = await LiveStream.open(server.url, 'server-logs', headers);
    assert.equal(live.status, 200, live.text);
    const ended = (async () => {
      while (!live.isOver) await sleep(20);
    })();
    await assertEnds(ended, () => deleteToken('op'));
  });
});
