// Source: rate-limits, sections 2, 5, 9 and 11: which identity is charged, how much, and who is
// rejected.
import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { it } from 'node:test';
import {
  ANONYMOUS,
  type ApiConventions,
  ClientAddresses,
  emptyResponse,
  type GateRequest,
  loadSettings,
  type Principal,
  type Route,
} from '@plinth/kernel';
import { ManualClock, requestHead, SeededRandom } from '@plinth/kernel/testing';
import { RATE_LIMIT_SETTINGS, type RateLimitConfig } from '../../config.js';
import { LimiterMetrics } from '../../domain/limiter-metrics.js';
import { LoginGuard } from '../../domain/login-guard.js';
import { makeLimiter } from '../../domain/make-limiter.js';
import { rateLimitError } from '../../errors.js';
import type { LimitStore } from '../../model/limit-store.js';
import { openStore } from '../../storage/open-store.js';
import { RouteListing } from '../route-listing.js';
import { HttpGate } from './http-gate.js';

const USER: Principal = { kind: 'user', userId: 7 };
const APP: Principal = { kind: 'app', appId: 3 };
const shop = (service = 'shop'): ApiConventions => ({
  service,
  paths: ['/'],
  identify: () => USER,
  errorResponse: () => emptyResponse(500),
  notFoundResponse: () => emptyResponse(404),
});
const route = (path: string, more: Partial<Route> = {}): Route => ({
  ...{
    method: 'GET',
    path,
    access: 'public',
    about: { summary: path },
    output: { 204: { description: 'done' } },
  },
  handle: () => emptyResponse(204),
  ...more,
});
const THINGS = route('/things');

/** A gate that allows addresses three requests per minute, and users and apps five. */
function open(
  settings: Partial<RateLimitConfig> = {},
  { bend = (store: LimitStore): LimitStore => store, conventions = shop() } = {},
) {
  const clock = new ManualClock(1_000_000_000);
  const defaults = loadSettings({ on: RATE_LIMIT_SETTINGS }, { flags: new Map(), env: {} }).on;
  const config: RateLimitConfig = {
    ...defaults,
    resources: { gamedata: { limit: 5, anonymous_limit: 3 } },
    services: { shop: { enabled: true, resource: 'gamedata' }, closed: { enabled: false } },
    vendor_name: 'Acme',
    ...settings,
  };
  const store = bend(
    openStore({ config, clock, random: new SeededRandom(1), onBan() {}, onChange() {} }),
  );
  const routes = new RouteListing();
  const gate = new HttpGate({
    ...{ config, clock, routes },
    limiter: makeLimiter({ config, store, clock, metrics: new LimiterMetrics() }),
    logins: new LoginGuard({ clock }),
  });
  const addresses = new ClientAddresses({
    trustedProxies: ['10.9.0.0/16'],
    exemptNetworks: config.exempt_cidrs,
  });
  const ask = (about: Asked = {}) => gate.admit(visit({ conventions, addresses }, about));
  /**
   * Returns the usage after admission, `free` if nothing was charged, `cut` for a closed
   * connection, or the status and message of a refusal.
   */
  const told = async (about: Asked = {}): Promise<string> => {
    const response = await ask(about);
    if (!('refusal' in response)) {
      const used = new Map(response.settle(200)).get('x-ratelimit-used') ?? 'free';
      response.finish();
      return used;
    }
    if (response.refusal === undefined) return 'cut';
    const { message } = JSON.parse(String(response.refusal.body)) as { message: string };
    return `${response.refusal.status} ${message}`;
  };
  const inTurn = async (count: number, about: Asked = {}): Promise<readonly string[]> => {
    const all: string[] = [];
    for (let i = 0; i < count; i++) all.push((await told(about)).slice(0, 18));
    return all;
  };
  return { clock, gate, store, routes, ask, told, inTurn };
}
type Asked = Partial<GateRequest> & Sent;

interface Sent {
  readonly from?: string;
  readonly method?: string;
  readonly authorization?: string;
  readonly forwarded?: string;
  readonly socket?: Socket;
}

function visit(
  {
    conventions,
    addresses,
  }: { readonly conventions: ApiConventions; readonly addresses: ClientAddresses },
  { from, method = 'GET', authorization, forwarded, socket = new Socket(), ...rest }: Asked,
): GateRequest {
  const headers = {
    ...(authorization !== undefined && { authorization }),
    ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }),
  };
  return {
    ...{
      conventions,
      headers: [],
      route: THINGS,
      principal: undefined,
      authOutcome: 'authenticated',
    },
    request: requestHead({
      ...{ method, url: '/things', headers, socket, addresses },
      ...(from !== undefined && { from }),
    }),
    ...rest,
  };
}

it('covers the services limited in the settings', () => {
  const { gate } = open();
  assert.deepEqual(
    ['shop', 'closed', 'unheard'].map((name) => gate.covers(name)),
    [true, false, false],
  );
  assert.equal(open({ enabled: false }).gate.covers('shop'), false);
});

const OVER = '403 API rate limit';

it('counts addresses and authenticated callers separately', async () => {
  const { inTurn } = open();
  assert.deepEqual(await inTurn(4), ['1', '2', '3', OVER]);
  assert.deepEqual(await inTurn(1, { from: '192.0.2.2' }), ['1']);
  assert.deepEqual(await inTurn(6, { principal: USER }), ['1', '2', '3', '4', '5', OVER]);
  assert.deepEqual(await inTurn(1, { principal: { kind: 'user', userId: 8 } }), ['1']);
  // An anonymous principal is limited by its address, which is exhausted here.
  assert.deepEqual(await inTurn(1, { principal: ANONYMOUS }), [OVER]);
});

it('does not charge operators, probes and exempt networks', async () => {
  const { inTurn } = open({ exempt_cidrs: ['198.51.100.0/24'] });
  await inTurn(4);
  for (const path of ['/health', '/api/v1/health', '/ping', '/metrics', '/ready']) {
    const watch = route(path, { access: { openable: 'health' } });
    assert.deepEqual(await inTurn(1, { route: watch }), ['free'], path);
  }
  assert.deepEqual(await inTurn(1, { route: route('/ops/v1/apps') }), ['free']);
  assert.deepEqual(await inTurn(1, { route: route('/healthy') }), [OVER]);
  assert.deepEqual(await inTurn(1, { route: route('/x', { cost: { exempt: true } }) }), ['free']);
  assert.deepEqual(await inTurn(5, { from: '198.51.100.9' }), Array(5).fill('free'));
  assert.deepEqual(await inTurn(1, { principal: APP }), ['1']);
  const { told } = open({ app_jwt: 'exempt' });
  assert.deepEqual(
    [await told({ principal: APP }), await told({ principal: USER })],
    ['free', '1'],
  );
});

it('charges the cost of a route, and nothing for a preflight', async () => {
  const { inTurn } = open();
  const dear = route('/dear', { cost: { cost: 2 } });
  assert.deepEqual(await inTurn(2, { route: dear, principal: USER }), ['2', '4']);
  const preflight: Asked = { route: undefined, method: 'OPTIONS', authOutcome: 'preflight' };
  assert.deepEqual(await inTurn(2, { ...preflight, principal: USER }), ['4', '4']);
  const own = route('/own', { cost: { resource: 'search' } });
  assert.deepEqual(await inTurn(1, { route: own, principal: USER }), ['1']);
});

it('charges requests without a route by their method', async () => {
  const { inTurn } = open();
  for (const [at, method] of ['GET', 'POST', 'BREW', 'OPTIONS'].entries()) {
    const used = await inTurn(1, { route: undefined, principal: USER, method });
    assert.deepEqual(used, [String(Math.min(at + 1, 3))], method);
  }
});

it('counts both forms of an aliased path as one endpoint', async () => {
  for (const [service, refused] of [
    ['webhooks', 3],
    ['shop', undefined],
  ] as const) {
    const services = {
      webhooks: { resource: 'gamedata' },
      shop: { enabled: true, resource: 'gamedata' },
    };
    const { told } = open({ services, secondary_points_rest: 3 }, { conventions: shop(service) });
    const routes = ['/api/v3/x', '/x', '/api/v3/x', '/x'].map((path) => route(path));
    for (const [at, each] of routes.entries()) {
      const isRefused = (await told({ route: each, principal: USER })).startsWith('403');
      assert.equal(isRefused, at === refused, `${service} ${at}`);
    }
  }
});

it('counts unknown methods as writes', async () => {
  const { told } = open({ secondary_points_rest: 9 });
  const limited: Asked = { route: undefined, principal: USER };
  const all: boolean[] = [];
  for (const method of ['GET', 'BREW', 'FROTH'])
    all.push((await told({ ...limited, method })).startsWith('403'));
  assert.deepEqual(all, [false, false, true]);
});

it('lists the cost of each route', () => {
  const { gate, routes } = open();
  gate.registerRoutes('shop', [
    route('/a', { method: 'POST', cost: { cost: 2 } }),
    route('/ops/v1/b'),
  ]);
  gate.registerRoutes('webhooks', [route('/api/v3/app/hook')]);
  const listed = routes
    .list()
    .map(({ method, path, cost, exempt }) => [method, path, cost, exempt]);
  assert.deepEqual(listed, [
    ['POST', '/a', 2, false],
    ['GET', '/ops/v1/b', 0, true],
    ['HEAD', '/ops/v1/b', 0, true],
    ['GET', '/api/v3/app/hook', 1, false],
    ['HEAD', '/api/v3/app/hook', 1, false],
  ]);
});

it('rejects wrong credentials of an address after more than fifty, but no valid ones', async () => {
  const { told, clock } = open({ resources: {} });
  const wrong: Asked = {
    authOutcome: 'refusal',
    authorization: 'Bearer x',
    route: route('/ops/v1/a'),
  };
  for (let i = 0; i < 51; i++) assert.equal(await told(wrong), 'free');
  assert.equal(
    await told(wrong),
    '403 Maximum number of login attempts exceeded. Please try again later.',
  );
  // Without a credential, from another address, or with a valid or uncheckable credential.
  const { authorization: _, ...none } = wrong;
  assert.equal(await told(none), 'free');
  assert.equal(await told({ ...wrong, from: '192.0.2.9' }), 'free');
  assert.equal(await told({ ...wrong, authOutcome: 'authenticated', principal: USER }), 'free');
  assert.equal(await told({ ...wrong, authOutcome: 'uncheckable' }), 'free');
  await clock.advanceMs(3_600_000);
  assert.equal(await told(wrong), 'free');
});

it('charges nothing for an uncheckable credential, and rejects banned addresses', async () => {
  const { inTurn, store } = open();
  const unknown: Asked = { authOutcome: 'uncheckable', authorization: 'Bearer x' };
  assert.deepEqual(await inTurn(4, unknown), Array(4).fill('free'));
  assert.deepEqual(await inTurn(1), ['1']);
  await store.ban('ip:192.0.2.1', 60);
  assert.match((await inTurn(1, unknown)).join(), /^403 /);
  assert.match((await inTurn(1)).join(), /^403 /);
});

it('closes connections of an address with too many unauthenticated ones', async () => {
  const { told } = open({ ban_ip_connections: 2, resources: {} });
  const socket = new Socket();
  assert.notEqual(await told({ socket }), 'cut');
  assert.notEqual(await told(), 'cut');
  assert.equal(await told(), 'cut');
  assert.notEqual(await told({ socket }), 'cut');
  assert.notEqual(await told({ principal: USER }), 'cut');
  // Connections of a proxy belong to many clients.
  const forwarded = '192.0.2.1';
  for (let i = 0; i < 3; i++) assert.notEqual(await told({ from: '10.9.0.1', forwarded }), 'cut');
  for (const settings of [{ shadow: true }, { ban_enabled: false }]) {
    const { told: other } = open({ ban_ip_connections: 1, ...settings });
    await other();
    assert.notEqual(await other(), 'cut');
  }
});

it('allows all requests in shadow mode, and reports the refusals', async () => {
  const { inTurn, ask } = open({ shadow: true });
  assert.deepEqual(await inTurn(5), ['1', '2', '3', '3', '3']);
  // A request that was not charged is not refunded.
  await inTurn(5, { principal: USER });
  const response = await ask({ principal: USER });
  assert.ok(!('refusal' in response));
  assert.equal(new Map(response.settle(304)).get('x-ratelimit-used'), '5');
});

it('reports the exceeded limit if enabled, the retry time and the service', async () => {
  const conventions: ApiConventions = {
    ...shop(),
    formatRefusal: (body) => ({ ...body, own: true }),
    refusalHeaders: () => [['x-own', 'yes']],
  };
  for (const isNamed of [false, true]) {
    const more = { limited_by_header: isNamed, retry_after_on_primary: true, support_hint: true };
    const { ask, inTurn } = open(more, { conventions });
    await inTurn(3);
    const response = await ask({ headers: [['x-acme-request-id', 'AB:1']] });
    assert.ok('refusal' in response);
    const headers = new Map(response.refusal?.headers);
    assert.equal(headers.get('x-acme-limited-by'), isNamed ? 'primary' : undefined);
    assert.equal(headers.get('retry-after'), '60');
    assert.deepEqual([headers.get('x-ratelimit-remaining'), headers.get('x-own')], ['0', 'yes']);
    const body = JSON.parse(String(response.refusal?.body)) as { message: string; own: boolean };
    assert.match(body.message, /please include the request ID AB:1\.$/);
    assert.equal(body.own, true);
  }
  const { ask, inTurn } = open();
  await inTurn(3);
  const response = await ask();
  assert.ok('refusal' in response);
  assert.equal(new Map(response.refusal?.headers).get('retry-after'), undefined);
});

it('reports an unavailable store, and rethrows other errors', async () => {
  for (const isLate of [false, true]) {
    for (const error of [rateLimitError('store_unavailable'), new TypeError('a bug')]) {
      const fail = () => {
        if (isLate) return Promise.reject(error);
        throw error;
      };
      const bend = (store: LimitStore) =>
        new Proxy(store, {
          get: (_, name) => (name === 'admit' || name === 'banOf' ? fail : undefined),
        });
      const { told } = open({}, { bend });
      for (const authOutcome of ['authenticated', 'uncheckable'] as const) {
        const asking = told({ authOutcome });
        if (error instanceof TypeError) await assert.rejects(asking, TypeError);
        else assert.equal(await asking, '503 Service unavailable');
      }
    }
  }
});

it('refunds a 304 response to an authenticated caller', async () => {
  for (const [principal, left] of [
    [USER, '1'],
    [undefined, '2'],
  ] as const) {
    const { ask, told } = open();
    const response = await ask({ principal });
    assert.ok(!('refusal' in response));
    response.settle(304);
    response.finish();
    assert.equal(await told({ principal }), left);
  }
});
