// Source: docs/REQUEST-LIFECYCLE.md, "Authorization": access is a property of the route, never of the path text.
// Tests every listed route with many path forms and every insufficient credential.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import {
  Http2Client,
  type HttpResponse,
  KEYS,
  makeJwt,
  nowSec,
  ServerInProcess,
} from '../../harness/index.js';

interface Route {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly access: string | { readonly openable: string };
}

const EDITOR_TOKEN = 'an-editor-of-the-game-data';
const EDITOR_HASH = createHash('sha256').update(EDITOR_TOKEN).digest('hex');
/** Strings that no unauthorized response may contain. */
const REFUSALS = new Set([400, 401, 403, 404, 405, 422, 429]);
/** The responses for the first token once one exists. */
const TAKEN_ALREADY: ReadonlySet<number> = new Set([409, 422]);
const MIN_REQUEST_COUNT = 10_000;
/** Each wrong credential is sent to every tenth form of a path. */
const FORM_INTERVAL = 10;
/** A wrong password is sent to every eighth route. */
const PASSWORD_INTERVAL = 8;

/** Credentials that a route accepts. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  public: [
    ...['none', 'wrong', 'platform', 'other platform', 'user', 'app', 'editor', 'admin'],
    ...['token of nothing', 'password', 'wrong password', 'ended token'],
    ...['token for backups', 'token for all endpoints'],
  ],
  admin: ['admin'],
  granted: [
    ...['admin', 'token of nothing', 'password', 'token for backups', 'token for all endpoints'],
  ],
  first_token: ['admin'],
  backup: ['admin', 'token for backups'],
  platform: ['platform', 'other platform'],
  app: ['app'],
  editor: ['editor', 'admin'],
};

/** Requests by the API conventions of the server and its operators. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['token of nothing', 'password', 'token for backups', 'token for all endpoints'],
]);

const encoded = (char: string): string => `%${char.charCodeAt(0).toString(16)}`;

/** Other forms of a path; the first kind are equivalent. */
function spellings(path: string): readonly string[] {
  const segments = path.split('/').slice(1);
  const withSegment = (index: number, segment: string): string =>
    `/${segments.map((one, at) => (at === index ? segment : one)).join('/')}`;
  const ofSegments = segments.flatMap((segment, index) => {
    const at = segment.search(/[A-Za-z0-9]/);
    if (at === -1) return [];
    const replaced = (text: string) =>
      withSegment(index, segment.slice(0, at) + text + segment.slice(at + 1));
    const code = encoded(segment.charAt(at));
    return [
      replaced(code),
      replaced(code.toUpperCase().replace('%', '%25')),
      withSegment(
        index,
        [...segment].map((char) => (char === '.' ? '%2E' : encoded(char))).join(''),
      ),
      withSegment(index, segment.toUpperCase()),
      withSegment(index, `${segment};x=1`),
      withSegment(index, `${segment}%00`),
      withSegment(index, `./${segment}`),
      withSegment(index, `%2e/${segment}`),
      withSegment(index, `x/../${segment}`),
      withSegment(index, `/${segment}`),
      withSegment(index, `${segment}%2f`),
    ];
  });
  return [
    ...ofSegments,
    `/${path}`,
    `${path}/`,
    `${path}.`,
    `${path}%20`,
    `${path}#`,
    `${path}?`,
    `${path}?p=wrong`,
    `/\\${path.slice(1)}`,
    `http://other.example${path}`,
    `HTTP://other.example:80${path}`,
  ];
}

describe('every route of the server', () => {
  let server: ServerInProcess;
  let admin = '';
  let routes: readonly Route[] = [];
  const credentials = new Map<string, Readonly<Record<string, string>>>();
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });

  before(async () => {
    server = await ServerInProcess.start({
      flags: [
        ...['--gamedata-tokens', `ann:${EDITOR_HASH}:read+write+publish+admin`],
        ...['--server-trusted-proxies', 'loopback', '--first-token', 'anyone'],
      ],
      env: { PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: Object.values(KEYS).join(',') },
    });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    admin = JSON.parse(made.text).token;
    const ops = async (path: string, body?: object) => {
      const response = await server.http.send(path, {
        headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      assert.ok(response.status < 300, `${path}: ${response.text}`);
      return JSON.parse(response.text);
    };
    routes = await ops('/ops/v1/routes');
    await ops('/ops/v1/identities', { kind: 'user', id: 7 });
    const user = await ops('/ops/v1/credentials', { kind: 'personal', identity: 'user:7' });
    const app = await ops('/ops/v1/apps', { name: 'walk' });
    const platform = await ops('/ops/v1/accounts/platforms', { name: 'Other' });
    const other = await ops(`/ops/v1/accounts/platforms/${platform.id}/keys`, {
      kind: 'secret',
      livemode: false,
    });
    /** A token without useful permissions: its database does not exist. */
    const nothing = {
      ...{ resource_type: 'db', resource_identifier: ['nothing'], actions: ['read', 'write'] },
    };
    const granted = async (
      token_name: string,
      expiry_secs?: number,
      permission: object = nothing,
    ): Promise<string> => {
      const permissions = [permission];
      const made = { token_name, permissions, ...(expiry_secs !== undefined && { expiry_secs }) };
      return (await ops('/api/v3/enterprise/configure/token', made)).token;
    };
    const of = (name: string) => ({
      ...{ resource_type: 'system', resource_identifier: [name], actions: ['read'] },
    });
    const jwt = makeJwt(app.pem, { iss: app.client_id, iat: nowSec() - 5, exp: nowSec() + 500 });
    for (const [who, token] of [
      ['wrong', `apiv3_${'x'.repeat(86)}`],
      ['platform', KEYS.sk_test],
      ['other platform', other.value],
      ['user', user.token],
      ['app', jwt],
      ['editor', EDITOR_TOKEN],
      ['token of nothing', await granted('walk')],
      ['ended token', await granted('ended', 0)],
      ['token for backups', await granted('backups', undefined, of('backup'))],
      ['token for all endpoints', await granted('endpoints', undefined, of('*'))],
    ] as const) {
      assert.equal(typeof token, 'string', who);
      credentials.set(who, { authorization: `Bearer ${token}` });
    }
    for (const q of ["CREATE USER walker WITH PASSWORD 'w' WITH ALL PRIVILEGES"]) {
      const path = `/query?${new URLSearchParams({ q })}`;
      const { status } = await server.http.send(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin}` },
      });
      assert.equal(status, 200, q);
    }
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    credentials.set('password', { authorization: basic('walker:w') });
    credentials.set('wrong password', { authorization: basic('walker:x') });
    credentials.set('none', {});
  });
  after(async () => {
    agent.destroy();
    await http2[Symbol.asyncDispose]();
    await server.close();
  });

  let http2: Http2Client;
  before(() => {
    http2 = new Http2Client(server.url);
  });
  let requestCount = 0;
  /** Each request uses another address, so that failed logins are not limited. */
  const fromElsewhere = (): Readonly<Record<string, string>> => {
    requestCount += 1;
    const bytes = [requestCount >> 16, (requestCount >> 8) & 255, requestCount & 255];
    return { 'x-forwarded-for': `10.${bytes.join('.')}` };
  };

  const filled = (path: string): string => path.replaceAll(/:[A-Za-z]+/g, '1').replace('*', 'walk');

  /** Sends the target verbatim. */
  async function send(
    target: string,
    method: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Pick<HttpResponse, 'status' | 'headers'>> {
    return await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const outgoing = request(
        {
          hostname,
          port,
          path: target,
          method,
          headers: { ...fromElsewhere(), ...headers },
          agent,
        },
        (response) => {
          response.resume();
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers }),
          );
        },
      );
      outgoing.on('error', (cause) => reject(new Error(`${method} ${target}`, { cause })));
      outgoing.end();
    });
  }

  const isRefused = ({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>): boolean =>
    REFUSALS.has(status) || headers['grpc-status'] === '16' || headers['grpc-status'] === '12';

  const takes = ({ access }: Route): readonly string[] => {
    if (typeof access === 'string') return TAKEN[access] ?? [];
    // A user with all privileges may read server metrics; any valid user may use public queries.
    return access.openable === 'ping'
      ? ['admin', ...KNOWN]
      : ['admin', 'password', 'token for all endpoints'];
  };

  /** Responses other than a request for credentials. */
  async function answered(): Promise<ReadonlyMap<string, number>> {
    const { text } = await server.http.send('/metrics', {
      headers: { authorization: `Bearer ${admin}` },
    });
    const line = /^http_requests_total\{method="(\w+)",path="([^"]+)",status="(\w+)"\} (\d+)$/gm;
    const counts = new Map<string, number>();
    for (const [, method, path, status, count] of text.matchAll(line)) {
      if (status === 'unauthorized') continue;
      const key = `${method} ${path}`;
      counts.set(key, (counts.get(key) ?? 0) + Number(count));
    }
    return counts;
  }

  /**
   * Sends requests that are not authorized: without a credential to every form of the path, with a wrong one to the path and,
   * because routing is independent of the credential, to a part of the other forms. Over all routes, each form is sent with each.
   */
  async function walk(route: Route, who: string, routeIndex: number): Promise<void> {
    // Takes a tenth of a second each time, for any path.
    if (who === 'wrong password' && routeIndex % PASSWORD_INTERVAL !== 0) return;
    const headers = credentials.get(who) ?? {};
    const { method } = route;
    const path = filled(route.path);
    const plain = await send(path, method, headers);
    const name = `${who}: ${method}`;
    const isFirst = route.access === 'first_token' && TAKEN_ALREADY.has(plain.status);
    // Ten wrong editor tokens a minute lead to another response.
    const isSlowed = route.access === 'editor' && plain.status === 429;
    // A valid credential without permission receives another response.
    const isTold = KNOWN.has(who) && plain.status === 403;
    const isAsked =
      isSlowed || isTold || plain.status === 401 || plain.headers['grpc-status'] === '16';
    assert.ok(isFirst || isAsked, `${name} ${path}: ${plain.status}`);
    if (who === 'wrong password') return;
    const offset = routeIndex + [...credentials.keys()].indexOf(who);
    // Each route of a platform has a copy for the console, with the same last part of the path.
    const isCopy = path.startsWith('/ops/v1/as/');
    for (const [index, target] of spellings(path).entries()) {
      if ((isCopy || who !== 'none') && (index + offset) % FORM_INTERVAL !== 0) continue;
      const response = await send(target, method, headers);
      const isSame = response.status === plain.status && response.status >= 400;
      assert.ok(isSame || isRefused(response), `${name} ${target}: ${response.status}`);
    }
    for (const target of [path, spellings(path)[0] ?? path]) {
      const all = { ...fromElsewhere(), ...headers };
      const response = await http2.send(target, { method, headers: all });
      const isSame = response.status === plain.status && response.status >= 400;
      assert.ok(isSame || isRefused(response), `${name} ${target} over HTTP/2: ${response.status}`);
    }
  }

  it('is listed with its access, and known to this test', () => {
    assert.ok(routes.length > 150, `${routes.length} routes`);
    const services = new Set(routes.map(({ service }) => service));
    for (const service of ['tsdb', 'identity', 'accounts', 'webhooks', 'ratelimit', 'gamedata']) {
      assert.ok(services.has(service), service);
    }
    for (const route of routes) assert.ok(takes(route).length > 0, JSON.stringify(route));
    const open = routes.filter(({ access }) => access === 'public').map(({ path }) => path);
    const isPublic =
      /^\/(api(\/|$)|editor|docs|livez$|(api\/v3\/)?(meta|versions|rate_limit)$|api\/v2\/setup$|ops\/v1\/(rate-limits\/auth|info|downloads\/:id)$|console|images|$)/;
    for (const path of open) assert.match(path, isPublic);
    for (const path of open)
      assert.doesNotMatch(path, /^\/api\/v[123]\/(?!meta|versions|rate_limit|setup$)/);
  });

  it('refuses all others, for every form of its path', { timeout: 800_000 }, async () => {
    const before = await answered();
    for (const [index, route] of routes.entries()) {
      const strangers = [...credentials.keys()].filter(
        (who) => !KNOWN.has(who) && !takes(route).includes(who),
      );
      await Promise.all(strangers.map((who) => walk(route, who, index)));
    }
    const since = await answered();
    for (const route of routes.filter(({ access }) => access !== 'public')) {
      const key = `${route.method} ${route.path}`;
      // Refusals of gRPC calls have HTTP status 200; the first-token response is public.
      if (/^\/(arrow|opentelemetry)\./.test(route.path) || route.access === 'first_token') continue;
      // This route validates the path before the credential, and an id may be invalid: `//`, `%00`.
      if (route.access === 'platform' || route.access === 'editor') continue;
      if (route.path === '/metrics') continue;
      assert.equal(since.get(key) ?? 0, before.get(key) ?? 0, `${key} ran`);
    }
    assert.ok(requestCount >= MIN_REQUEST_COUNT, `${requestCount} requests`);
    console.log(`# ${routes.length} routes, ${requestCount} requests`);
  });

  it('accepts valid credentials for what was granted', {
    timeout: 800_000,
  }, async () => {
    for (const [index, route] of routes.entries()) {
      const strangers = [...KNOWN].filter((who) => !takes(route).includes(who));
      await Promise.all(strangers.map((who) => walk(route, who, index)));
    }
  });

  it('returns the same public data for all forms of its path', async () => {
    for (const { method, path, access } of routes) {
      if (access !== 'public' || method !== 'GET') continue;
      const target = filled(path);
      const plain = await send(target, method, {});
      for (const spelled of spellings(target)) {
        const response = await send(spelled, method, {});
        const isSame =
          response.status === plain.status ||
          REFUSALS.has(response.status) ||
          response.status === 301;
        assert.ok(isSame, `${spelled}: ${response.status}, not ${plain.status}`);
      }
    }
  });

  it('shows no data of one tenant to another', async () => {
    const own = credentials.get('platform') ?? {};
    const made = await server.http.send('/v2/core/accounts', {
      headers: { ...own, 'content-type': 'application/json' },
      body: JSON.stringify({ contact_email: 'own@example.com' }),
    });
    assert.equal(made.status, 200, made.text);
    const { id } = JSON.parse(made.text);
    const ofAccount = routes.filter(({ path }) => path.startsWith('/v2/core/accounts/:'));
    assert.ok(ofAccount.length >= 5);
    for (const { method, path } of ofAccount) {
      const target = path.replace(/:[A-Za-z]+/, id).replaceAll(/:[A-Za-z]+/g, 'person_1');
      for (const spelled of [target, ...spellings(target)]) {
        const response = await send(spelled, method, credentials.get('other platform') ?? {});
        assert.ok(
          [400, 401, 404, 405].includes(response.status),
          `${method} ${spelled}: ${response.status}`,
        );
      }
    }
    const kept = await server.http.send(`/v2/core/accounts/${id}`, { headers: own });
    assert.equal(JSON.parse(kept.text).contact_email, 'own@example.com');
  });
});

describe('another form of a path', () => {
  it('does not reach time-series routes through game data', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    for (const [method, target] of [
      ['GET', '/api/%763/configure/database?format=json'],
      ['GET', '/api/v%33/configure/database?format=json'],
      ['POST', '/api/%763/write_lp?db=stolen'],
      ['POST', '/api/%763/query_sql?db=stolen&q=SELECT%201'],
      ['DELETE', '/api/%763/configure/database?db=stolen'],
      ['POST', '/api/%763/plugins/files'],
      ['POST', '/api/%763/plugin_test/schedule'],
      ['POST', '/api/%762/write?bucket=stolen'],
    ] as const) {
      const response = await server.http.send(target, { method });
      assert.equal(response.status, 401, `${method} ${target}: ${response.text}`);
      assert.equal(JSON.parse(response.text).error, 'the request was not authenticated');
    }
  });
});
