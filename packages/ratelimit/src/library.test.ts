import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type ClientRequest, createServer, type RequestListener, request } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fastify } from 'fastify';
import { createLimiter } from './index.js';

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function send(
  url: string,
  headers: Record<string, string> = {},
  agent?: Agent,
): { readonly outgoing: ClientRequest; readonly response: Promise<Response> } {
  const outgoing = request(url, { headers, ...(agent !== undefined && { agent }) });
  const response = new Promise<Response>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (piece: string) => {
        text += piece;
      });
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }),
      );
    });
  });
  outgoing.end();
  return { outgoing, response };
}

async function listen(
  handler: RequestListener,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const bucketOf = ({ headers }: Response): string =>
  `${headers['x-ratelimit-used']}+${headers['x-ratelimit-remaining']}/${headers['x-ratelimit-limit']}`;

/** Express has no bundled types; these are the members used here. */
type Express = RequestListener & {
  use(middleware: unknown): Express;
  get(path: string, handler: (request: unknown, response: ExpressResponse) => void): void;
};
interface ExpressResponse {
  send(text: string): void;
  status(code: number): { end(): void };
}
const express = createRequire(import.meta.url)('express') as () => Express;

const byHeader = (request: { readonly headers: Readonly<Record<string, unknown>> }) => {
  const user = request.headers['x-user'];
  return typeof user === 'string' ? `user:${user}` : undefined;
};

describe('inside an Express application', () => {
  it('limits by user and by address, with the right refusal messages', async () => {
    await using limiter = createLimiter({ settings: { resources: { core: { limit: 2 } } } });
    await limiter.start();
    const app = express();
    app.use(limiter.middleware({ identify: byHeader }));
    app.get('/hello', (_request, response) => response.send('hello'));
    app.get('/same', (_request, response) => response.status(304).end());
    await using server = await listen(app);
    const ask = (path: string, headers = {}) => send(server.url + path, headers).response;
    assert.equal(bucketOf(await ask('/hello')), '1+59/60');
    assert.equal(bucketOf(await ask('/nothing')), '2+58/60');
    const user = { 'x-user': '7' };
    assert.equal(bucketOf(await ask('/hello', user)), '1+1/2');
    const same = await ask('/same', user);
    assert.deepEqual([same.status, bucketOf(same)], [304, '1+1/2']);
    assert.equal((await ask('/hello', user)).text, 'hello');
    const refused = await ask('/hello', user);
    assert.equal(refused.status, 403);
    assert.equal(JSON.parse(refused.text).message, 'API rate limit exceeded for user ID 7.');
    const { core } = await limiter.report('user:7');
    assert.deepEqual([core?.limit, core?.used, core?.remaining], [2, 2, 0]);
  });

  it('counts points of all forms of a path together', async () => {
    await using limiter = createLimiter({ settings: { secondary_points_rest: 3 } });
    await limiter.start();
    await using server = await listen(express().use(limiter.middleware()) as RequestListener);
    const statuses: number[] = [];
    for (const path of ['/same', '/%73ame', '//same', '/same/', '/x/%2e%2e/same?a=1', '/other']) {
      statuses.push((await send(server.url + path).response).status);
    }
    assert.deepEqual(statuses, [404, 404, 404, 403, 403, 404]);
  });

  it('runs 100 of 150 slow requests at a time, and frees the slots of disconnected clients', async () => {
    const roomy = { core: { limit: 1_000, anonymous_limit: 1_000 } };
    // The time during which requests wait counts as handler time, which is long on a busy machine.
    const settings = { resources: roomy, secondary_cpu_seconds: 100_000 };
    await using limiter = createLimiter({ settings });
    await limiter.start();
    let running = 0;
    const waiting: (() => void)[] = [];
    const app = express();
    app.use(limiter.middleware());
    app.get('/slow', (_request, response) => {
      running += 1;
      waiting.push(() => response.send('done'));
    });
    app.get('/quick', (_request, response) => response.send('quick'));
    await using server = await listen(app);
    const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
    const sent = Array.from({ length: 150 }, () => send(`${server.url}/slow`, {}, agent));
    const statuses: number[] = [];
    for (const { response } of sent) {
      response.then(
        ({ status }) => statuses.push(status),
        () => statuses.push(0),
      );
    }
    const until = async (isSo: () => boolean) => {
      for (let left = 500; left > 0 && !isSo(); left -= 1) await sleep(10);
    };
    await until(() => statuses.length === 50 && running === 100);
    assert.deepEqual([running, statuses.filter((status) => status === 403).length], [100, 50]);
    assert.equal((await send(`${server.url}/quick`).response).status, 403);
    // Half of the clients disconnect.
    for (const { outgoing } of sent.slice(0, 75)) outgoing.destroy();
    await until(() => statuses.filter((status) => status === 0).length >= 25);
    // The server detects the closed connections one at a time.
    let quick = 403;
    for (let left = 100; left > 0 && quick !== 200; left -= 1) {
      await sleep(10);
      quick = (await send(`${server.url}/quick`).response).status;
    }
    assert.equal(quick, 200);
    for (const response of waiting) response();
    await until(() => statuses.length === 150);
    assert.equal((await send(`${server.url}/quick`).response).status, 200);
    agent.destroy();
  });

  it('charges handler time, and rejects callers over that limit', async () => {
    await using limiter = createLimiter({ settings: { secondary_cpu_seconds: 1 } });
    await limiter.start();
    const app = express();
    app.use(limiter.middleware({ identify: byHeader }));
    app.get('/slow', (_request, response) => {
      setTimeout(() => response.send('done'), 1_100);
    });
    await using server = await listen(app);
    const ask = () => send(`${server.url}/slow`, { 'x-user': '1' }).response;
    assert.equal((await ask()).status, 200);
    const refused = await ask();
    assert.equal(refused.status, 403);
    assert.match(JSON.parse(refused.text).message, /secondary rate limit/);
  });
});

describe('inside a Fastify application', () => {
  it('limits every route, including unknown paths and failing handlers', async () => {
    await using limiter = createLimiter({ settings: { secondary_points_rest: 3 } });
    await limiter.start();
    const app = fastify();
    limiter.limitFastify(app, { identify: byHeader });
    app.get('/things/:id', async (request) => request.params);
    app.get('/broken', async () => {
      throw new Error('broken');
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo; // listening on TCP
    const ask = (path: string) =>
      send(`http://127.0.0.1:${port}${path}`, { 'x-user': '1' }).response;
    const found: string[] = [];
    for (const path of ['/things/1', '/broken', '/nothing', '/things/2', '/things/3']) {
      const response = await ask(path);
      found.push(`${response.status} ${bucketOf(response)}`);
    }
    assert.deepEqual(found, [
      '200 1+4999/5000',
      '500 2+4998/5000',
      '404 3+4997/5000',
      '200 4+4996/5000',
      '200 5+4995/5000',
    ]);
    // Points are counted per route template, so the fourth request exceeds the limit.
    const refused = await ask('/things/4');
    assert.equal(refused.status, 403);
    assert.match(JSON.parse(refused.text).message, /secondary rate limit/);
    await app.close();
  });
});

it('reports all invalid settings', () => {
  const settings = { report: ['nope'], exempt_cidrs: ['10.0.0.0/99'] };
  assert.throws(
    () => createLimiter({ settings }),
    (error: Error) =>
      error.name === 'ConfigInvalid' &&
      error.message.includes('rate_limit.report: unknown resource nope') &&
      error.message.includes('10.0.0.0/99'),
  );
});
