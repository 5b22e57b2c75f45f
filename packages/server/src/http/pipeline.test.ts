// Source: docs/adr/0090-one-request-pipeline.md: a service is tables of routes, and everything else follows from them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import {
  ANONYMOUS,
  type ApiConventions,
  BodyBudget,
  ClientAddresses,
  Cors,
  CredentialUncheckable,
  checkedRoute,
  createLogger,
  describeApi,
  emptyResponse,
  type HeadFault,
  type HttpResponse,
  Metrics,
  OpenApi,
  type Pass,
  type RequestGate,
  RequestInvalid,
  type Route,
  SystemClock,
  textResponse,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { nodeTransport } from '../port/node-transport.js';
import { ConventionsDirectory } from './conventions-directory.js';
import { HttpMetrics } from './http-metrics.js';
import { IncomingRequest } from './incoming-request.js';
import { Pipeline } from './pipeline.js';
import { Router } from './router.js';
import { serverConventions } from './server-conventions.js';

/** A service with its own API conventions: a key in a header, and plain-text errors. */
const shop = (more: Partial<ApiConventions> = {}): ApiConventions => ({
  service: 'shop',
  paths: ['/shop'],
  identify({ headers, url }) {
    if (headers['x-key'] !== 'k1') throw new Error('no key');
    const principal = { kind: 'user', userId: 7 } as const;
    return url.endsWith('?later') ? Promise.resolve(principal) : principal;
  },
  errorResponse: (error) => textResponse(error instanceof RangeError ? 400 : 401, `shop: ${error}`),
  notFoundResponse: (_request, allowed) =>
    allowed.length === 0
      ? textResponse(404, 'shop: no such thing')
      : emptyResponse(405, [['allow', allowed.join(', ')]]),
  headers: () => [['x-shop', 'open']],
  ...more,
});

/** The complete definition of a route; nothing else in the server refers to it. */
const THING: Route = {
  method: 'POST',
  path: '/shop/things/:id',
  access: 'public',
  cost: { points: 3 },
  body: { maxBytes: 100 },
  about: { summary: 'Take a thing' },
  output: { 200: OpenApi.response('taken') },
  check({ headers }) {
    if (headers['x-bad'] !== undefined) throw new RangeError('bad');
  },
  handle: ({ parameters, principal, body }) =>
    textResponse(200, `${parameters['id']} ${principal.kind} ${Buffer.from(body)}`),
};

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
}

async function serve(
  t: TestContext,
  routes: readonly Route[],
  {
    conventions = shop(),
    gate,
    maxBodyBytes = 1000,
  }: {
    readonly conventions?: ApiConventions;
    readonly gate?: RequestGate;
    readonly maxBodyBytes?: number;
  } = {},
) {
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } });
  const metrics = new Metrics();
  const httpMetrics = new HttpMetrics(metrics);
  const router = new Router();
  const own = serverConventions({
    identify: () => ({ kind: 'admin', tokenId: 0, tokenName: '_admin' }),
    clusterUuid: () => 'c1',
    cors: new Cors({ origins: '*', methods: '*', requestHeaders: '*' }),
    log,
  });
  const conventionsDirectory = new ConventionsDirectory(own);
  conventionsDirectory.add(conventions);
  for (const route of routes) {
    router.add('shop', { conventions, api: 'shop', routes }, route, (method) =>
      httpMetrics.route(method, route.path),
    );
  }
  const bodies = new BodyBudget(new SystemClock(), maxBodyBytes);
  t.after(() => bodies[Symbol.dispose]());
  const pipeline = new Pipeline({
    ...{ router, conventionsDirectory, gate, log },
    clock: new SystemClock(),
    grants: (access, principal) => access === 'public' || principal?.kind === access,
    unmatched: httpMetrics.unmatched,
    bodies,
  });
  const addresses = new ClientAddresses();
  const server = createServer(nodeTransport({ pipeline, addresses, log, isDraining: () => false }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const ask = async (path: string, { method = 'GET', headers = {}, body }: Asked = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'x-key': 'k1', ...headers },
      ...(body && { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { ask, bodies, lines, metrics, pipeline, router };
}

/** A request that arrives with its complete body, as from the fast reader. */
class WholeRequest extends IncomingRequest {
  readonly httpVersion = 1;
  readonly fault;
  readonly #sent: Buffer;
  gone = (): void => {};

  constructor(url: string, fault?: HeadFault, sent = Buffer.from('b')) {
    super({
      method: 'POST',
      url,
      headers: { 'x-key': 'k1' },
      socket: new Socket(),
      addresses: new ClientAddresses(),
    });
    this.fault = fault;
    this.#sent = sent;
  }

  readBody = (): Uint8Array => this.#sent;
  disconnectSignal = () => new AbortController().signal;
  whenClosed(done: () => void): void {
    this.gone = done;
  }
}

describe('a route table entry', () => {
  it('is routed, authenticated, read and answered', async (t) => {
    const { ask } = await serve(t, [THING]);
    const post = { method: 'POST', body: Buffer.from('b') };
    const response = await ask('/shop/things/a%20b', post);
    assert.deepEqual([response.status, response.text], [200, 'a b user b']);
    assert.equal(response.headers.get('x-shop'), 'open');
    assert.equal((await ask('/shop/things/1?later', post)).text, '1 user b');
    const packed = { 'content-encoding': 'gzip' };
    const unpacked = await ask('/shop/things/1', { ...post, headers: packed, body: gzipSync('x') });
    assert.equal(unpacked.text, '1 user x');
  });

  it('returns 503 when the body budget is exhausted, counting decompressed sizes', async (t) => {
    const words = { errorResponse: (error: unknown) => textResponse(503, `shop: ${error}`) };
    const { ask, bodies } = await serve(t, [THING], {
      conventions: shop(words),
      maxBodyBytes: 100,
    }); // One caller may use half.
    const post = { method: 'POST', body: Buffer.alloc(50, 'b') };
    const full =
      'shop: ServerBusy: the memory limit for request bodies has been reached; try again';
    assert.equal((await ask('/shop/things/1', post)).status, 200);
    assert.equal(bodies.sizeBytes, 0);
    const other = bodies.begin({ kind: 'admin', tokenId: 0, tokenName: 'x' });
    assert.ok(other.noteReceived(51));
    assert.equal((await ask('/shop/things/1', post)).text, full);
    assert.equal(bodies.sizeBytes, 51);
    other.release();
    const packed = { 'content-encoding': 'gzip' };
    const large = { ...post, headers: packed, body: gzipSync(Buffer.alloc(60)) };
    assert.equal((await ask('/shop/things/1', large)).text, full);
    assert.equal(bodies.sizeBytes, 0);
  });

  it('returns 404 for unknown paths, and 405 with the existing methods', async (t) => {
    const { ask } = await serve(t, [THING, { ...THING, method: 'GET' }]);
    assert.equal((await ask('/shop/nothing')).text, 'shop: no such thing');
    assert.equal((await ask('/shop/%ff')).text, 'shop: no such thing');
    assert.equal((await ask('/shop/things/a%00')).text, 'shop: no such thing');
    const { status, headers } = await ask('/shop/things/1', { method: 'DELETE' });
    assert.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD, POST']);
  });

  it('refuses other callers before reading the body', async (t) => {
    const handle = (): never => assert.fail('nobody is let in');
    const readers = ['app', 'editor', 'admin'] as const;
    const routes = readers.map(
      (access): Route => ({ ...THING, path: `/shop/${access}`, access, handle }),
    );
    const { ask } = await serve(t, routes);
    for (const access of readers) {
      const response = await ask(`/shop/${access}`, { method: 'POST', body: Buffer.alloc(500) });
      assert.equal(response.status, 401, access);
      assert.match(
        response.text,
        access === 'app' ? /AppJwtRefused/ : /the request was not authenticated/,
      );
    }
    assert.equal(
      (await ask('/shop/app', { headers: { 'x-key': '' } })).text,
      'shop: Error: no key',
    );
    // The response does not show whether a path exists.
    assert.equal((await ask('/shop/no', { headers: { 'x-key': '' } })).text, 'shop: Error: no key');
  });

  it('shows whether a path exists if the API conventions allow it', async (t) => {
    const { ask } = await serve(t, [THING], { conventions: shop({ revealsPaths: true }) });
    const headers = { 'x-key': '' };
    assert.equal((await ask('/shop/no', { headers })).status, 404);
    assert.equal((await ask('/shop/things/1', { headers })).status, 405);
    assert.equal((await ask('/shop/things/1', { headers, method: 'POST' })).status, 401);
  });

  it('checks the head and limits the body', async (t) => {
    const { ask } = await serve(t, [THING]);
    const large = { method: 'POST', body: Buffer.alloc(101) };
    const bad = await ask('/shop/things/1', { ...large, headers: { 'x-bad': '1' } });
    assert.deepEqual([bad.status, bad.text], [400, 'shop: RangeError: bad']);
    assert.match((await ask('/shop/things/1', large)).text, /max request size/);
    const packed = { 'content-encoding': 'gzip' };
    const bomb = { method: 'POST', headers: packed, body: gzipSync(Buffer.alloc(101)) };
    assert.match((await ask('/shop/things/1', bomb)).text, /max request size/);
  });

  it('accepts no body by default, and a compressed body verbatim if declared', async (t) => {
    const text: Route['handle'] = ({ body }) =>
      textResponse(200, Buffer.from(body).toString('hex'));
    const { body: _, ...bare } = { ...THING, path: '/shop/bare', handle: text };
    const packed: Route = {
      ...bare,
      path: '/shop/packed',
      body: { maxBytes: 100, isLeftEncoded: true },
    };
    const { ask } = await serve(t, [bare, packed]);
    const sent = gzipSync('x');
    const post = { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: sent };
    assert.deepEqual((await ask('/shop/bare', post)).text, '');
    assert.deepEqual((await ask('/shop/packed', post)).text, sent.toString('hex'));
  });

  it('responds synchronously when nothing is asynchronous', async (t) => {
    let isHandled = false;
    const handle: Route['handle'] = (...asked) => {
      isHandled = true;
      return THING.handle(...asked);
    };
    const { pipeline } = await serve(t, [{ ...THING, handle }]);
    const answering = pipeline.respond(new WholeRequest('/shop/things/1'));
    assert.ok(isHandled);
    assert.equal(String((await answering)?.response?.body), '1 user b');
  });

  it('releases the pass of the limiter if the client disconnects during the decision', async (t) => {
    const seen: string[] = [];
    let decide = (_pass: Pass): void => {};
    const decided = new Promise<Pass>((resolve) => {
      decide = resolve;
    });
    const gate: RequestGate = { covers: () => true, registerRoutes() {}, admit: () => decided };
    const { pipeline } = await serve(t, [THING], { gate });
    const request = new WholeRequest('/shop/things/1');
    const answering = pipeline.respond(request);
    request.gone();
    const finish = (): void => void seen.push('ends');
    decide({ begin() {}, settle: () => [], finish });
    await answering;
    assert.deepEqual(seen, ['ends']);
  });

  it('reports an uncheckable credential to the limiter as such, not as a wrong one', async (t) => {
    const seen: unknown[] = [];
    const gate: RequestGate = {
      covers: () => true,
      registerRoutes() {},
      admit({ authOutcome }) {
        seen.push(authOutcome);
        return { refusal: emptyResponse(503) };
      },
    };
    const errors = [new CredentialUncheckable(undefined), new Error('wrong')];
    for (const error of errors) {
      const identify = () => Promise.reject(error);
      const { pipeline } = await serve(t, [THING], { gate, conventions: shop({ identify }) });
      await pipeline.respond(new WholeRequest('/shop/things/1'));
    }
    assert.deepEqual(seen, ['uncheckable', 'refusal']);
  });

  it('counts response sizes that are known', async (t) => {
    const rest = (async function* () {})();
    const responses: readonly (readonly [HttpResponse, string])[] = [
      [textResponse(200, 'abc'), '3'],
      [emptyResponse(204), '0'],
      [{ ...textResponse(200, 'ab'), rest, sizeBytes: 7 }, '7'],
      [{ ...textResponse(200, 'ab'), rest }, 'none'],
      [emptyResponse(304), 'none'],
    ];
    for (const [response, size] of responses) {
      const { pipeline, metrics } = await serve(t, [{ ...THING, handle: () => response }]);
      const request = new WholeRequest('/shop/things/1');
      await pipeline.respond(request);
      request.gone();
      const { text } = await metrics.page();
      const [, sum] = /^http_response_body_size_bytes_sum\{.*things.*\} (\d+)$/m.exec(text) ?? [];
      const [, count] =
        /^http_response_body_size_bytes_count\{.*things.*\} (\d+)$/m.exec(text) ?? [];
      assert.equal((count ?? '0') === '0' ? 'none' : sum, size);
    }
  });

  it('refuses ambiguous heads', async (t) => {
    const handle = (): never => assert.fail('nobody is let in');
    const { pipeline } = await serve(t, [{ ...THING, handle }]);
    const fault = { status: 417, message: 'no' };
    const exchange = await pipeline.respond(new WholeRequest('/shop/things/1', fault));
    assert.deepEqual([exchange?.response?.status, exchange?.isRejected], [417, true]);
  });

  it('is not counted if the client disconnects before the response', async (t) => {
    const { pipeline, metrics, lines } = await serve(t, [THING]);
    const request = new WholeRequest('/shop/things/1?later');
    const answering = pipeline.respond(request);
    request.gone();
    await answering;
    assert.doesNotMatch((await metrics.page()).text, /^http_requests_total\{.*things.* [1-9]/m);
    assert.deepEqual(lines, []);
  });

  it('is counted, logged without secrets and listed', async (t) => {
    const { ask, metrics, lines, router } = await serve(t, [THING]);
    await ask('/shop/things/1?p=hunter22&db=a', { method: 'POST' });
    await ask('/shop/none');
    const logged = lines.find((line) => line.includes('"msg":"request"')) ?? '{}';
    assert.equal(JSON.parse(logged).url, '/shop/things/1?p=[redacted]&db=a');
    const { text } = await metrics.page();
    assert.match(
      text,
      /^http_requests_total\{method="POST",path="\/shop\/things\/:id",status="ok"\} 1$/m,
    );
    assert.match(
      text,
      /^http_requests_total\{method="any",path="unmatched",status="client_error"\} 1$/m,
    );
    assert.deepEqual(router.routes, [
      { service: 'shop', method: 'POST', path: '/shop/things/:id', access: 'public' },
    ]);
  });

  it('is admitted and charged as it says, refused credentials included', async (t) => {
    const seen: string[] = [];
    const gate: RequestGate = {
      covers: (service) => service === 'shop',
      registerRoutes() {},
      admit({ request, route, principal, authOutcome }) {
        seen.push(`${route?.cost?.points} ${principal?.kind} ${authOutcome}`);
        if (request.url.endsWith('?much')) return { refusal: textResponse(429, 'slow down') };
        return Promise.resolve({
          begin: () => void seen.push('begins'),
          settle: (status) => [['x-settled', String(status)]],
          finish: () => void seen.push('ends'),
        });
      },
    };
    const { ask } = await serve(t, [THING], { gate });
    const post = { method: 'POST' };
    assert.equal((await ask('/shop/things/1', post)).headers.get('x-settled'), '200');
    assert.equal((await ask('/shop/things/1?much', post)).status, 429);
    const refused = await ask('/shop/things/1', { ...post, headers: { 'x-key': '' } });
    assert.equal(refused.headers.get('x-settled'), '401');
    assert.equal((await ask('/outside')).headers.get('x-settled'), null);
    assert.deepEqual(seen.slice(0, 3), ['3 user authenticated', 'begins', 'ends']);
    assert.deepEqual(seen.slice(3), ['3 user authenticated', '3 undefined refusal', 'ends']);
  });

  it('handles preflights by conventions, and other paths by the server', async (t) => {
    const preflightResponse: ApiConventions['preflightResponse'] = ({ url }) =>
      url === '/shop/open' ? emptyResponse(204, [['allow', 'GET']]) : undefined;
    const { ask } = await serve(t, [THING], { conventions: shop({ preflightResponse }) });
    const options = { method: 'OPTIONS', headers: { 'x-key': '' } };
    assert.equal((await ask('/shop/open', options)).headers.get('allow'), 'GET');
    assert.equal((await ask('/shop/things/1', options)).headers.get('allow'), 'POST');
    const outside = await ask('/nowhere');
    assert.deepEqual([outside.status, outside.headers.get('cluster-uuid')], [404, 'c1']);
  });

  it('defines everything about a route: 405, access, checks, cost, description, metrics and route list', async (t) => {
    const order = checkedRoute({
      method: 'POST',
      path: '/shop/orders/:number',
      access: 'editor',
      cost: { points: 7 },
      body: { maxBytes: 1000 },
      about: { summary: 'Order something', operationId: 'order' },
      input: {
        parameters: Type.Object({ number: Type.Integer({ minimum: 1 }) }),
        query: Type.Object({ express: Type.Optional(Type.Boolean({ default: false })) }),
        body: Type.Object({ count: Type.Integer({ minimum: 1 }) }),
      },
      output: { 201: OpenApi.response('ordered', OpenApi.text) },
      errors: { 409: 'there is such an order' },
      handle: (_request, { parameters: { number }, query: { express }, body: { count } }) =>
        textResponse(201, `${number + 1} ${express === true} ${count + 1}`),
    });
    const points: unknown[] = [];
    const gate: RequestGate = {
      covers: () => true,
      registerRoutes() {},
      admit({ route }) {
        points.push(route?.cost?.points);
        return { begin() {}, settle: () => [], finish() {} };
      },
    };
    const conventions = shop({
      refusals: { name: 'Refusal', schema: Type.String(), shared: { 418: 'the shop is closed' } },
      identify: ({ headers }) =>
        headers['x-key'] === 'k1' ? { kind: 'editor', name: 'e', scopes: new Set() } : ANONYMOUS,
      errorResponse: (error) =>
        error instanceof RequestInvalid
          ? textResponse(422, `${error.part} ${error.failures[0]?.path}`)
          : textResponse(401, 'who?'),
    });
    const { ask, metrics, router } = await serve(t, [order], { conventions, gate });
    const send = async (path: string, body: unknown, key = 'k1') => {
      const headers = { 'x-key': key };
      const sent = Buffer.from(JSON.stringify(body));
      const { status, text } = await ask(path, { method: 'POST', headers, body: sent });
      return `${status} ${text}`;
    };
    assert.equal(await send('/shop/orders/4?express=true', { count: 2 }), '201 5 true 3');
    assert.equal(await send('/shop/orders/4', { count: 2 }), '201 5 false 3');
    assert.equal(await send('/shop/orders/x', { count: 0 }), '422 params number');
    assert.equal(await send('/shop/orders/4?express=1', {}), '422 querystring express');
    assert.equal(await send('/shop/orders/4', {}), '422 body count');
    assert.equal(await send('/shop/orders/4', {}, 'none'), '401 who?');
    const wrong = await ask('/shop/orders/4', { method: 'PUT' });
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST']);
    assert.deepEqual(points.slice(0, 6), [7, 7, 7, 7, 7, 7]);
    assert.match(
      (await metrics.page()).text,
      /^http_requests_total\{method="POST",path="\/shop\/orders\/:number",status="ok"\} 2$/m,
    );
    assert.deepEqual(router.routes, [
      { service: 'shop', method: 'POST', path: '/shop/orders/:number', access: 'editor' },
    ]);
    const { paths } = describeApi({ title: 'Shop', description: '' }, router.registered);
    const described = JSON.parse(JSON.stringify(paths['/shop/orders/{number}']?.['post']));
    assert.equal(described.operationId, 'order');
    assert.deepEqual(
      described.parameters.map((one: { in: string; name: string; required: boolean }) => [
        one.in,
        one.name,
        one.required,
      ]),
      [
        ['path', 'number', true],
        ['query', 'express', false],
      ],
    );
    assert.deepEqual(described.requestBody.content['application/json'].schema, {
      type: 'object',
      required: ['count'],
      properties: { count: { type: 'integer', minimum: 1 } },
    });
    const statuses = ['201', '400', '401', '404', '409', '413', '418'];
    assert.deepEqual(Object.keys(described.responses), statuses);
    assert.deepEqual(described.security, [{ editor: [] }]);
  });

  it('cannot exist under two forms of a path', async () => {
    const router = new Router();
    const add = (path: string): void =>
      router.add(
        'shop',
        { conventions: shop(), api: 'shop', routes: [] },
        { ...THING, path },
        () => ({}) as never,
      );
    add('/fine/:id');
    assert.throws(() => add('/sp%61ce'), /unreserved/);
    assert.throws(() => add('/b@d'), /unreserved/);
  });
});
