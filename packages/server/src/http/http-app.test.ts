import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createLogger,
  type HttpService,
  Metrics,
  type Principal,
  type RequestGate,
  type RouteAccess,
  routesFor,
} from '@plinth/kernel';
import { Cors } from './cors.js';
import { createHttpApp, type HttpAppParts, registerServices } from './http-app.js';
import { HttpMetrics } from './http-metrics.js';

const settled = async (answer: boolean): Promise<boolean> => answer;
const ADMIN: Principal = { kind: 'admin', tokenId: 0, tokenName: '_admin' };

/** A service with a dialect of its own: a key in a header, errors as plain text. */
const SHOP: HttpService = {
  name: 'shop',
  front: {
    paths: ['/shop'],
    authenticate(request) {
      if (request.headers['x-key'] !== 'k1') throw new Error('no key');
      const principal: Principal = { kind: 'user', userId: 7 };
      return request.url.endsWith('?later') ? Promise.resolve(principal) : principal;
    },
    answerError: (error, _request, reply) => reply.code(401).send(`shop: ${String(error)}`),
    answerNotFound: (_request, reply) => reply.code(404).send('shop: no such thing'),
    setHeaders: (_request, reply) => void reply.header('x-shop', 'open'),
  },
  async register(scope) {
    routesFor(scope, 'public');
    scope.get('/shop/who', (request, reply) => reply.send(request.principal));
    scope.get('/shop/app', { config: { access: 'app' } }, () => 'ran');
    scope.get('/shop/editor', { config: { access: 'editor' } }, () => 'ran');
    scope.options('/shop/who', (_request, reply) => reply.send('asked'));
  },
  async start() {},
  async close() {},
};

async function appWith(gate?: RequestGate, register?: HttpService['register']) {
  const lines: string[] = [];
  const metrics = new Metrics();
  const parts: HttpAppParts = {
    log: createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } }),
    services: [
      {
        name: 'echo',
        async register(scope) {
          routesFor(scope, 'admin');
          scope.get('/who', (request, reply) => reply.send(request.principal));
          await scope.register(async (apps) => {
            apps.get('/for-platforms', { config: { access: 'platform' } }, () => 'ran');
            apps.get('/for-editors', { config: { access: 'editor' } }, () => 'ran');
          });
          scope.get('/broken', () => {
            throw new Error('a detail that is nobody else’s business');
          });
          scope.post('/body', (request, reply) => reply.send({ got: request.body }));
        },
        async start() {},
        async close() {},
      },
      SHOP,
      ...(register === undefined
        ? []
        : [{ name: 'more', register, async start() {}, async close() {} }]),
    ],
    clusterUuid: () => 'c1',
    authenticate: () => ADMIN,
    grants: (access, principal) => access === 'public' || principal?.kind === access,
    cors: new Cors({ isOpen: true, origins: undefined }),
    gate,
    metrics: new HttpMetrics(metrics),
    isDraining: () => false,
  };
  const app = createHttpApp(parts);
  await registerServices(app, parts);
  return { app, lines, metrics };
}

describe('createHttpApp', () => {
  it('hands the principal to the route', async () => {
    const { app } = await appWith();
    assert.deepEqual((await app.inject('/who')).json(), ADMIN);
  });

  it('calls no handler for somebody whom its route does not name, whatever the front has decided', async () => {
    const { app } = await appWith();
    for (const [url, status] of [
      ['/for-platforms', 401],
      ['/for-editors', 401],
      ['/who', 200],
    ] as const) {
      const answer = await app.inject(url);
      assert.equal(answer.statusCode, status, url);
      assert.equal(answer.body.includes('ran'), false);
    }
  });

  it('does not register a route that names nobody, or one whose path could be spelled in two ways', async () => {
    const register = (path: string, access?: RouteAccess) =>
      appWith(undefined, async (scope) => {
        if (access !== undefined) routesFor(scope, access);
        scope.get(path, () => 'ran');
      });
    await register('/fine/:id', 'admin');
    await assert.rejects(register('/nobody'), /GET \/nobody says who may use it/);
    await assert.rejects(register('/sp%61ce', 'admin'), /unreserved/);
    await assert.rejects(register('/b@d', 'admin'), /unreserved/);
  });

  it('answers a bug with a bare 500 and logs it', async () => {
    const { app, lines } = await appWith();
    const response = await app.inject('/broken');
    assert.equal(response.statusCode, 500);
    assert.equal(response.body, '{"error":"internal error","data":{}}');
    assert.ok(lines.some((line) => line.includes('nobody else') && line.includes('"error"')));
  });

  it('logs requests at debug without the credentials in their URLs', async () => {
    const { app, lines } = await appWith();
    await app.inject('/who?p=hunter22&db=a');
    const line = lines.find((candidate) => candidate.includes('"msg":"request"')) ?? '{}';
    assert.equal(JSON.parse(line).url, '/who?p=[redacted]&db=a');
  });

  it('refuses a body above the limit with 413', async () => {
    const { app } = await appWith();
    const response = await app.inject({
      method: 'POST',
      url: '/body',
      headers: { 'content-type': 'application/json' },
      payload: Buffer.alloc(1_048_577, ' '),
    });
    assert.equal(response.statusCode, 413);
    assert.equal(response.headers['cluster-uuid'], 'c1');
  });

  it('asks the gate about requests of covered services alone, refused credentials included', async () => {
    const seen: string[] = [];
    const { app } = await appWith({
      covers: (service) => service === 'shop',
      admit(request, reply, { principal, purpose, service }) {
        seen.push(`${service} ${request.url} ${principal?.kind} ${purpose}`);
        if (!request.url.endsWith('?much')) return request.url.endsWith('?later') || settled(true);
        reply.code(429).send('slow down');
        return settled(false);
      },
      watch: (scope) => void scope.addHook('onSend', async () => void seen.push('watched')),
      plainGate: () => undefined,
    });
    const ask = async (url: string, headers: Record<string, string> = { 'x-key': 'k1' }) => {
      const { statusCode } = await app.inject({ url, headers });
      return statusCode;
    };
    assert.equal(await ask('/who'), 200);
    assert.equal(await ask('/shop/who'), 200);
    assert.equal(await ask('/shop/who?later'), 200);
    assert.equal(await ask('/shop/who?much'), 429);
    assert.equal(await ask('/shop/who', {}), 401);
    assert.deepEqual(
      seen.filter((line) => line !== 'watched'),
      [
        'shop /shop/who user request',
        'shop /shop/who?later user request',
        'shop /shop/who?much user request',
        'shop /shop/who undefined refusal',
      ],
    );
    assert.equal(seen.filter((line) => line === 'watched').length, 4);
  });

  it('lets a service say who asks and how refusals read below its paths', async () => {
    const { app } = await appWith();
    const ask = async (url: string, headers: Record<string, string> = { 'x-key': 'k1' }) => {
      const { statusCode, body, headers: got } = await app.inject({ url, headers });
      assert.equal(got['x-shop'], 'open', url);
      assert.equal(got['cluster-uuid'], undefined, url);
      return `${statusCode} ${body}`;
    };
    assert.equal(await ask('/shop/who'), '200 {"kind":"user","userId":7}');
    assert.equal(await ask('/shop/who?later'), '200 {"kind":"user","userId":7}');
    assert.equal(await ask('/shop/who', {}), '401 shop: Error: no key');
    assert.equal(await ask('/shop/nothing'), '404 shop: no such thing');
    assert.equal(await ask('/shop/nothing', {}), '401 shop: Error: no key');
    // Of another kind than the one that was recognised.
    assert.equal(
      await ask('/shop/app'),
      '401 shop: AppJwtRefused: A JSON web token could not be decoded',
    );
    assert.match(await ask('/shop/editor'), /^401 shop: NotAuthenticated/);
    assert.equal(await ask('/shop/%ff'), '404 shop: no such thing');
    const outside = await app.inject('/shopping');
    assert.equal(outside.headers['cluster-uuid'], 'c1');
    assert.equal(outside.headers['x-shop'], undefined);
  });

  it('routes OPTIONS where a service has no answer to preflights', async () => {
    const { app } = await appWith();
    const own = await app.inject({
      method: 'OPTIONS',
      url: '/shop/who',
      headers: { 'x-key': 'k1' },
    });
    assert.equal(own.body, 'asked');
    assert.equal((await app.inject({ method: 'OPTIONS', url: '/who' })).statusCode, 204);
  });
});
