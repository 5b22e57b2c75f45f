// Source: rate-limits, sections 3.1, 3.2, 4.3, 8.1, 19, with all services on one port.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { App, Octokit } from 'octokit';
import { ServerInProcess } from '../../harness/index.js';
import { bucketOf, PROBE, text } from './platform.js';

let server: ServerInProcess;
let admin = '';
let app = { id: 0, pem: '' };

const ops = async (method: string, path: string, body?: unknown) =>
  await server.http.send(`/ops/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${admin}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

before(async () => {
  server = await ServerInProcess.start({
    flags: [
      '--rate-limit-ban-threshold',
      '3',
      '--rate-limit-resources',
      '{"scim":{"limit":1}}',
      '--webhooks-allow-private-targets',
      '127.0.0.0/8',
    ],
  });
  const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  admin = text(JSON.parse(made.text), 'token');
  const registered = await ops('POST', 'apps', {
    name: 'limited',
    webhook: { url: 'http://127.0.0.1:1/', events: ['*'] },
  });
  assert.equal(registered.status, 201, registered.text);
  app = JSON.parse(registered.text) as typeof app;
});
after(async () => await server.close());

const client = () =>
  new App({
    appId: app.id,
    privateKey: app.pem,
    Octokit: Octokit.defaults({ baseUrl: `${server.url}/api/v3` }),
  });

async function appToken(): Promise<string> {
  const made: unknown = await client().octokit.auth({ type: 'app' });
  return text(made, 'token');
}

describe('octokit as an app', () => {
  it("uses the app's bucket with an app token, and the installation's bucket with its token", async () => {
    await ops('POST', 'identities', {
      kind: 'installation',
      id: 42,
      app_id: app.id,
      account: { type: 'Organization', id: 3 },
      repositories_count: 21,
    });
    const local = client();
    const own = await local.octokit.request('GET /app');
    assert.equal(own.headers['x-ratelimit-limit'], '5000');
    assert.equal(own.headers['x-ratelimit-resource'], 'core');
    const installation = await local.getInstallationOctokit(42);
    const { data } = await installation.rest.rateLimit.get();
    assert.equal(data.rate.limit, 6_050);
    assert.equal(data.rate.used, 0);
    // The request for the installation token was charged to the app.
    const authorization = `Bearer ${await appToken()}`;
    const again = await server.http.send('/rate_limit', { headers: { authorization } });
    const { rate } = JSON.parse(again.text) as { rate: { limit: number; used: number } };
    assert.deepEqual([rate.limit, rate.used], [5_000, 2]);
    await assert.rejects(
      local.getInstallationOctokit(43).then((one) => one.rest.meta.get()),
      {
        status: 404,
      },
    );
  });
});

describe('on one port', () => {
  it('limits webhooks and the probe in their own conventionsDirectory, and no other services', async () => {
    const refused = await server.http.send('/api/v3/app/hook/config');
    assert.equal(refused.status, 401);
    assert.match(bucketOf(refused), /^core \d+\+\d+\/60$/);
    for (const path of [PROBE, '/meta']) {
      const probe = await server.http.send(path);
      assert.equal(probe.status, 200, path);
      assert.match(bucketOf(probe), /^core \d+\+\d+\/60$/);
    }
    const token = await ops('POST', 'credentials', { kind: 'personal', identity: 'user:1' });
    const authorization = `token ${text(JSON.parse(token.text), 'token')}`;
    const known = await server.http.send(PROBE, { headers: { authorization } });
    assert.equal(bucketOf(known), 'core 1+4999/5000');
    const bad = await server.http.send(PROBE, { headers: { authorization: 'Bearer nonsense' } });
    assert.equal(bad.status, 401);
    assert.equal(JSON.parse(bad.text).message, 'Bad credentials');
    assert.match(bucketOf(bad), /\/60$/);
    for (const path of ['/health', '/v2/core/accounts', '/api/items', '/ops/v1/apps', '/nothing']) {
      const response = await server.http.send(path);
      assert.equal(response.headers['x-ratelimit-limit'], undefined, path);
    }
  });

  it('sends a ban to subscribed apps', async () => {
    for (let index = 0; index < 4; index += 1) {
      await ops('POST', 'rate-limits/check', { identity: 'user:66', resource: 'scim' });
    }
    const bans = JSON.parse((await ops('GET', 'rate-limits/bans')).text);
    assert.equal(bans.bans[0]?.identity, 'user:66');
    const authorization = `Bearer ${await appToken()}`;
    const isTold = async () => {
      const path = '/api/v3/app/hook/deliveries?per_page=100';
      const response = await server.http.send(path, { headers: { authorization } });
      const deliveries = JSON.parse(response.text) as { event: string; action: string }[];
      return deliveries.some(({ event, action }) => event === 'rate_limit' && action === 'banned');
    };
    let left = 100;
    while (left > 0 && !(await isTold())) {
      left -= 1;
      await sleep(50);
    }
    assert.ok(left > 0, 'no delivery of the event within five seconds');
  });
});

it('a service limited by the operator sends refusals in its own conventions', async () => {
  const services = {
    tsdb: { enabled: true },
    accounts: { enabled: true },
    gamedata: { enabled: true, status: 429, style: 'problem' },
  };
  const limit = { limit: 1, anonymous_limit: 1 };
  await using limited = await ServerInProcess.start({
    flags: [
      '--without-auth',
      '--rate-limit-services',
      JSON.stringify(services),
      '--rate-limit-resources',
      JSON.stringify({ tsdb_query: limit, accounts: limit, gamedata: limit }),
    ],
  });
  const second = async (path: string) => {
    await limited.http.send(path);
    return await limited.http.send(path);
  };
  const message =
    "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)";
  const tsdb = await second('/api/v3/query_sql?db=a&q=SELECT+1');
  assert.equal(tsdb.status, 429);
  assert.deepEqual(JSON.parse(tsdb.text), { error: message, data: {} });
  assert.match(String(tsdb.headers['retry-after']), /^\d+$/);
  const accounts = await second('/v2/core/accounts');
  assert.equal(accounts.status, 429);
  assert.equal(JSON.parse(accounts.text).error.type, 'rate_limit');
  assert.equal(JSON.parse(accounts.text).error.message, message);
  const gamedata = await second('/api/items');
  assert.equal(gamedata.status, 429);
  assert.equal(gamedata.headers['content-type'], 'application/problem+json');
  assert.equal(
    JSON.parse(gamedata.text).type,
    'https://iana.org/assignments/http-problem-types#quota-exceeded',
  );
  // Operator endpoints are never limited.
  for (const path of ['/health', '/metrics', '/ops/v1/apps']) {
    for (let index = 0; index < 3; index += 1) {
      assert.notEqual((await limited.http.send(path)).status, 429, path);
    }
  }
});
