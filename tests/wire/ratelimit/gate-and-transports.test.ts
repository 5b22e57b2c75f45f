// Source: rate-limits, sections 5 to 9, 11 and 13; docs/adr/0090-one-request-pipeline.md: limits
// apply, count once and are reported equally on each transport.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, ServerInProcess, WITH_SAMPLE_DATA } from '../../harness/index.js';

/** Makes Node's HTTP server process the request. */
const NOT_FAST = 'TE: trailers';
/** An uncounted request whose response marks the end of the previous one. */
const LAST = 'GET /ping HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const ADMIN_TOKEN = '/api/v3/configure/token/admin';

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly headers?: readonly string[];
  readonly body?: string;
}

function requestText(target: string, { method = 'GET', headers = [], body }: Asked = {}): string {
  const length = body === undefined ? [] : [`Content-Length: ${body.length}`];
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...headers, ...length];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** Returns the complete response without its date. */
async function responseTo(
  server: ServerInProcess,
  target: string,
  asked: Asked = {},
): Promise<string> {
  using connection = await RawConnection.open(server.url);
  connection.send(requestText(target, asked));
  await connection.until(/\r\n\r\n/);
  connection.send(LAST);
  const text = await connection.untilEnd();
  const end = text.lastIndexOf('HTTP/1.1 ');
  assert.ok(end > 0, text);
  return text.slice(0, end).replace(/^date: .*\r\n/im, '');
}

const byServer = (asked: Asked = {}): Asked => ({
  ...asked,
  headers: [...(asked.headers ?? []), NOT_FAST],
});

const headerOf = (response: string, name: string): number =>
  Number(new RegExp(`^${name}: (\\d+)\\r$`, 'm').exec(response)?.[1] ?? Number.NaN);

/** A response without the parts that depend on other requests or on the second. */
const uncounted = (response: string): string =>
  response
    .replace(/^(x-ratelimit-(?:used|remaining|reset)): \d+\r$/gm, '$1: n\r')
    .replace(/^(ratelimit: .*);r=\d+;t=\d+\r$/gm, '$1\r')
    .replace(/^retry-after: \d+\r$/gm, 'retry-after: n\r')
    .replace(/^(x-\w+-request-id): .*\r$/gm, '$1: n\r');

/**
 * Sends requests over both transports alternately, `rounds` times; the responses must be equal, and
 * all requests count.
 */
async function compare(
  server: ServerInProcess,
  target: string,
  asked: Asked = {},
  used?: number,
): Promise<string> {
  const fast = await responseTo(server, target, asked);
  const http = await responseTo(server, target, byServer(asked));
  assert.equal(uncounted(fast), uncounted(http), target);
  if (used !== undefined) {
    const limit = headerOf(fast, 'x-ratelimit-limit');
    for (const [response, count] of [
      [fast, used],
      [http, used + 1],
    ] as const) {
      assert.equal(headerOf(response, 'x-ratelimit-used'), count, response);
      assert.equal(headerOf(response, 'x-ratelimit-remaining'), limit - count);
    }
    assert.equal(headerOf(fast, 'x-ratelimit-reset'), headerOf(http, 'x-ratelimit-reset'));
  }
  return fast;
}

async function metricOf(server: ServerInProcess, line: string): Promise<number> {
  const { text } = await server.http.send('/metrics');
  const found = text.split('\n').find((one) => one.startsWith(`${line} `));
  return Number(found?.slice(line.length + 1) ?? 0);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let left = 200; left > 0; left -= 1) {
    if (await isSo()) return;
    await sleep(50);
  }
  assert.fail(what);
}

const inFlight = (server: ServerInProcess) => metricOf(server, 'ratelimit_inflight');

const start = (flags: readonly string[], services = 'tsdb,ratelimit,gamedata') =>
  ServerInProcess.start({
    flags: ['--without-auth', '--services', services, ...flags],
    env: WITH_SAMPLE_DATA,
  });

const resources = (value: object) => ['--rate-limit-resources', JSON.stringify(value)];
const services = (value: object) => ['--rate-limit-services', JSON.stringify(value)];

describe('A gate before both transports', () => {
  it('lets public reads of game data through as they are, with all services as they come', async () => {
    await using server = await ServerInProcess.start({ env: WITH_SAMPLE_DATA });
    const etag = String((await server.http.send('/api/items')).headers['etag']);
    const line =
      'ratelimit_decisions_total{service="gamedata",resource="gamedata",outcome="allowed"}';
    const before = await metricOf(server, line);
    const targets = ['/api/items', '/api/levels/1', '/api/items?limit=3', '/api/levels/999'];
    for (const target of targets) {
      const response = await compare(server, target);
      assert.doesNotMatch(response, /^(x-)?ratelimit/im);
    }
    const unchanged = await compare(server, '/api/items', { headers: [`If-None-Match: ${etag}`] });
    assert.match(unchanged, /^HTTP\/1\.1 304 /);
    assert.equal(await metricOf(server, line), before + 2 * (targets.length + 1));
    await until('all slots are given back', async () => (await inFlight(server)) === 0);
  });

  it('counts down on both transports and returns the same refusals', async () => {
    await using server = await start([
      ...resources({ gamedata: { anonymous_limit: 14, window: 3600 } }),
      ...['--rate-limit-ietf-headers', 'true', '--rate-limit-limited-by-header', 'true'],
      ...['--rate-limit-retry-after-on-primary', 'true', '--rate-limit-support-hint', 'true'],
    ]);
    const etag = /^etag: (.*)\r$/m.exec(await responseTo(server, '/api/items'))?.[1];
    const asked: readonly (readonly [string, readonly string[]])[] = [
      ['/api/items', []],
      ['/api/items', ['Accept-Encoding: br']],
      ['/api/items?limit=2', []],
      // A client without a credential is also charged for a 304.
      ['/api/items', [`If-None-Match: ${etag}`]],
      ['/api/levels/nobody', []],
      ['/api/items', ['Accept: image/png']],
    ];
    let used = 2;
    for (const [target, headers] of asked) {
      const response = await compare(server, target, { headers }, used);
      assert.match(response, /^ratelimit-policy: "gamedata";q=14;w=3600\r$/m);
      used += 2;
    }
    assert.equal(headerOf(await responseTo(server, '/api/items'), 'x-ratelimit-used'), 14);
    const refused = await compare(server, '/api/items');
    assert.match(refused, /^HTTP\/1\.1 429 /);
    assert.equal(headerOf(refused, 'x-ratelimit-remaining'), 0);
    assert.ok(headerOf(refused, 'retry-after') > 3_500);
    assert.match(refused, /"message":"API rate limit exceeded for 127\.0\.0\.1/);
    assert.equal(await metricOf(server, 'ratelimit_rejected_total{limit="primary"}'), 2);
  });

  it('admits exactly the limit, on any transport', async () => {
    await using server = await start(
      resources({ gamedata: { anonymous_limit: 50, window: 3600 } }),
    );
    const statuses = await Promise.all(
      Array.from({ length: 80 }, async (_, index) => {
        const asked = index % 2 === 0 ? {} : byServer();
        return (await responseTo(server, `/api/levels/${1 + (index % 5)}`, asked)).slice(9, 12);
      }),
    );
    assert.equal(statuses.filter((status) => status === '200').length, 50);
    assert.equal(statuses.filter((status) => status === '429').length, 30);
    assert.equal(await metricOf(server, 'ratelimit_rejected_total{limit="primary"}'), 30);
  });

  it('refuses on a connection that was served before, and counts one refusal towards a ban', async () => {
    await using server = await start([
      ...resources({ gamedata: { anonymous_limit: 2, window: 3600 } }),
      ...['--rate-limit-ban-threshold', '4'],
    ]);
    using connection = await RawConnection.open(server.url);
    const ask = requestText('/api/levels/1?fields=level');
    let sent = 0;
    for (const [count, statuses] of [
      [1, '200'],
      [2, '200 200'],
      [5, '200 200 429 429 429'],
    ] as const) {
      while (sent < count) {
        sent += 1;
        connection.send(ask);
      }
      const text = await connection.until(new RegExp(`(HTTP/1\\.1 [\\s\\S]*?\\}){${count}}$`));
      const found = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
      assert.equal(found.join(' '), statuses);
    }
    assert.equal(await metricOf(server, 'ratelimit_bans'), 0, 'three refusals of four');
    assert.match(await responseTo(server, '/api/levels/1'), /^HTTP\/1\.1 429 /);
    assert.equal(await metricOf(server, 'ratelimit_bans'), 1);
  });

  it('rejects banned addresses immediately, and admits them after the ban', async () => {
    await using server = await start([]);
    const ops = (method: string, path: string, body?: object) =>
      server.http.send(`/ops/v1/rate-limits/${path}`, {
        method,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    using connection = await RawConnection.open(server.url);
    const ask = requestText('/api/levels/1?fields=level');
    connection.send(ask);
    await connection.until(/HTTP\/1\.1 200 [\s\S]*\}$/);
    await ops('POST', 'bans', { identity: 'ip:127.0.0.1' });
    connection.send(ask);
    await connection.until(/HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 429 [\s\S]*\}$/);
    assert.match(await compare(server, '/api/levels/1'), /^HTTP\/1\.1 429 /);
    await ops('DELETE', 'bans/ip:127.0.0.1');
    assert.match(await compare(server, '/api/levels/1'), /^HTTP\/1\.1 200 /);
  });

  it('holds a slot until the client has read its response or disconnected', async () => {
    await using server = await start(['--rate-limit-secondary-concurrency', '2']);
    const { port } = new URL(server.url);
    const target = '/api/items?limit=5000';
    const size = (await responseTo(server, target)).length;
    const line = 'http_requests_total{method="GET",path="/api/items",status="ok"}';
    let sent = await metricOf(server, line);
    /** Sends requests without reading responses until the socket buffers are full. */
    const openSlow = async (slots: number) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
      socket.on('error', () => {});
      await once(socket, 'connect');
      for (let count = 1; count <= 100; count += 1) {
        socket.write(requestText(target));
        sent += 1;
        const isCounted = async () => (await metricOf(server, line)) === sent;
        // A response that waits for its client is not counted yet.
        await until(
          'it is answered',
          async () => (await isCounted()) || (await inFlight(server)) === slots,
        );
        await sleep(20);
        if ((await inFlight(server)) !== slots) continue;
        sent -= 1;
        return { socket, sizeBytes: count * size };
      }
      return assert.fail('a slot is held');
    };
    const [one, other] = [await openSlow(1), await openSlow(2)];
    const refused = await compare(server, '/api/levels/1');
    assert.match(refused, /^HTTP\/1\.1 429 /);
    assert.equal(headerOf(refused, 'retry-after'), 5);
    one.socket.destroy();
    await until('who leaves gives its slot back', async () => (await inFlight(server)) === 1);
    assert.match(await compare(server, '/api/levels/1'), /^HTTP\/1\.1 200 /);
    let left = other.sizeBytes;
    other.socket.on('data', (piece: Buffer) => {
      left -= piece.length;
    });
    await until('who has read gives its slot back', async () => (await inFlight(server)) === 0);
    // Every response has a date header of 37 bytes, which was not counted in the measurement.
    await until('who reads gets all of it', async () => left <= 0);
    other.socket.destroy();
  });

  it('separates clients behind a trusted proxy, and exempts configured networks', async () => {
    await using server = await start([
      ...resources({ gamedata: { anonymous_limit: 100, window: 3600 } }),
      ...['--server-trusted-proxies', 'loopback', '--rate-limit-exempt-cidrs', '192.0.2.0/24'],
    ]);
    const via = (list: string): Asked => ({ headers: [`X-Forwarded-For: ${list}`] });
    await compare(server, '/api/levels/1', via('203.0.113.5'), 1);
    await compare(server, '/api/levels/1', via('203.0.113.6'), 1);
    await compare(server, '/api/levels/1', via('198.51.100.9, 203.0.113.5'), 3);
    await compare(server, '/api/levels/1', via('2001:db8:1:2::1'), 1);
    await compare(server, '/api/levels/1', via('2001:db8:1:2::2'), 3);
    await compare(server, '/api/levels/1', {}, 1);
    assert.doesNotMatch(await compare(server, '/api/levels/1', via('192.0.2.7')), /^x-ratelimit/m);
  });

  it('closes connections of an address with too many, without a response', async () => {
    await using server = await start(['--rate-limit-ban-ip-connections', '2']);
    const ask = async () => {
      const connection = await RawConnection.open(server.url);
      connection.send(requestText('/api/levels/1?fields=level'));
      return connection;
    };
    const open = [await ask(), await ask()];
    for (const connection of open) await connection.until(/HTTP\/1\.1 200 [\s\S]*\}$/);
    using third = await ask();
    assert.equal(await third.untilEnd(), '');
    for (const connection of open) {
      connection.send(requestText('/api/levels/2?fields=level'));
      await connection.until(/(HTTP\/1\.1 200 [\s\S]*?\}){2}$/);
      connection.close();
    }
  });

  it('only logs refusals in shadow mode', async () => {
    const limits = resources({ gamedata: { anonymous_limit: 1, window: 3600 } });
    await using server = await start([...limits, '--rate-limit-shadow', 'true']);
    for (let round = 0; round < 2; round += 1) {
      assert.match(await compare(server, '/api/levels/1'), /^HTTP\/1\.1 200 /);
    }
    assert.equal(await metricOf(server, 'ratelimit_shadow_rejected_total'), 3);
  });
});

describe('A gate in front of short writes and queries', () => {
  const LINE = { method: 'POST', body: 'm,h=a v=1 1' } as const;
  const WRITE = '/api/v3/write_lp?db=short';
  const QUERY = '/query?db=short&q=SELECT%20*%20FROM%20m';

  it('counts those of a token together and those of another apart', async () => {
    await using server = await ServerInProcess.start({
      flags: [
        ...['--services', 'tsdb,ratelimit'],
        ...services({ tsdb: { enabled: true } }),
        ...resources({
          tsdb_query: { limit: 12, anonymous_limit: 5, window: 3600 },
          tsdb_write: { limit: 9, anonymous_limit: 5, window: 3600 },
        }),
      ],
    });
    const admin = await server.http.send(ADMIN_TOKEN, { method: 'POST' });
    const { token } = JSON.parse(admin.text) as { token: string };
    const made = await server.http.send('/api/v3/configure/token/named_admin', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ token_name: 'second' }),
    });
    const { token: other } = JSON.parse(made.text) as { token: string };
    const by = (one: string): readonly string[] => [`Authorization: Bearer ${one}`];
    const usedBy = async (target: string, asked: object): Promise<number> =>
      headerOf(
        await responseTo(server, target, { ...asked, headers: by(token) }),
        'x-ratelimit-used',
      );
    let written = (await usedBy(WRITE, LINE)) + 1;
    assert.equal(written, 2);
    for (const target of [WRITE, '/write?db=short', `${WRITE}&precision=eon`]) {
      await compare(server, target, { ...LINE, headers: by(token) }, written);
      written += 2;
    }
    let used = (await usedBy(QUERY, {})) + 1;
    for (const target of [QUERY, '/api/v3/query_sql?db=short&q=SELECT%201', `${QUERY}%20WHERE`]) {
      await compare(server, target, { headers: by(token) }, used);
      used += 2;
    }
    await compare(server, WRITE, { ...LINE, headers: by(other) }, 1);
    // A wrong token counts against its address, on each transport.
    for (const left of [4, 2]) {
      const wrong = await compare(server, WRITE, { ...LINE, headers: by('wrong') });
      assert.match(wrong, /^HTTP\/1\.1 401 /);
      assert.equal(headerOf(wrong, 'x-ratelimit-remaining'), left);
    }
    for (; used <= 12; used++) assert.equal(await usedBy(QUERY, {}), used);
    for (; written <= 9; written++) assert.equal(await usedBy(WRITE, LINE), written);
    for (const [target, asked] of [
      [WRITE, LINE],
      [QUERY, {}],
    ] as const) {
      const refused = await compare(server, target, { ...asked, headers: by(token) });
      assert.match(refused, /^HTTP\/1\.1 429 /);
    }
    assert.match(
      await responseTo(server, WRITE, { ...LINE, headers: by(other) }),
      /^HTTP\/1\.1 204 /,
    );
  });

  it('charges points once on each transport, by route and method', async () => {
    await using server = await start(
      [
        ...services({ tsdb: { enabled: true, secondary: 'all' } }),
        ...['--rate-limit-secondary-points-rest', '30'],
      ],
      'tsdb,ratelimit',
    );
    const statuses: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      statuses.push((await compare(server, WRITE, LINE)).slice(9, 12));
    }
    // A write costs five points, so six of them pass.
    assert.deepEqual(statuses, ['204', '204', '204', '429']);
    assert.match(await compare(server, '/write?db=short', LINE), /^HTTP\/1\.1 204 /);
    assert.match(await compare(server, QUERY), /^HTTP\/1\.1 200 /);
    assert.equal(await metricOf(server, 'ratelimit_rejected_total{limit="points_rest"}'), 2);
    assert.equal(await inFlight(server), 0);
  });

  it('responds to a write whose client has half-closed its connection', async () => {
    await using server = await start(services({ tsdb: { enabled: true } }), 'tsdb,ratelimit');
    for (let index = 0; index < 3; index += 1) {
      using connection = await RawConnection.open(server.url);
      connection.send(requestText(WRITE, LINE));
      connection.finish();
      assert.match(await connection.untilEnd(), /^HTTP\/1\.1 204 /);
    }
    await until('the slots are given back', async () => (await inFlight(server)) === 0);
  });

  it('holds the slot of a long query until its client disconnects', async () => {
    await using server = await start(
      [...services({ tsdb: { enabled: true } }), '--rate-limit-secondary-concurrency', '1'],
      'tsdb,ratelimit',
    );
    const lines = Array.from({ length: 5_000 }, (_, n) => `wide,h=${n} t="${'x'.repeat(400)}" 1`);
    for (let round = 0; round < 8; round += 1) {
      const body = lines.join('\n').replaceAll(' 1\n', ` ${round + 2}\n`);
      const written = await server.http.send(WRITE, { method: 'POST', body });
      assert.equal(written.status, 204, written.text);
    }
    const { port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.write(requestText('/query?db=short&chunked=true&q=SELECT%20*%20FROM%20wide'));
    await until('the slot is taken', async () => (await inFlight(server)) === 1);
    assert.match(await compare(server, QUERY), /^HTTP\/1\.1 429 /);
    socket.destroy();
    await until('the slot is given back', async () => (await inFlight(server)) === 0);
    assert.match(await compare(server, QUERY), /^HTTP\/1\.1 200 /);
  });
});
