// Source: rate-limits, sections 3.1, 5, 6, 7.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpResponse, ServerInProcess } from '../../harness/index.js';
import { basic, bucketOf, Platform, PROBE, resetOf, text } from './platform.js';

const GUIDE = '/docs/rest/using-the-rest-api/rate-limits-for-the-rest-api';

/** Asserts the complete refusal in the platform's format. */
function assertRefused(response: HttpResponse, status: number, message: string, url: string): void {
  assert.equal(response.status, status, response.text);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
  assert.deepEqual(JSON.parse(response.text), {
    message,
    documentation_url: url,
    status: String(status),
  });
}

describe('with plain settings', () => {
  let platform: Platform;
  let token = '';
  before(async () => {
    platform = await Platform.start();
    token = await platform.token({ kind: 'personal', identity: 'user:1' });
  });
  after(async () => await platform[Symbol.asyncDispose]());

  it('a window starts with the first request and lasts an hour from then on', async () => {
    const before = Math.floor(Date.now() / 1000);
    const first = await platform.send(PROBE, token);
    const after = Math.floor(Date.now() / 1000);
    assert.ok(resetOf(first) >= before + 3600 && resetOf(first) <= after + 3600);
    assert.equal(resetOf(await platform.send(PROBE, token)), resetOf(first));
  });

  it('every response has the five headers, regardless of its status', async () => {
    const cases: readonly (readonly [
      path: string,
      status: number,
      headers: Record<string, string>,
    ])[] = [
      [PROBE, 200, {}],
      [PROBE, 304, { 'if-none-match': '*' }],
      [PROBE, 401, { authorization: 'Bearer nonsense' }],
      ['/api/v3/meta/none', 404, {}],
      ['/rate_limit/%ff', 404, {}],
      ['/rate_limit', 200, {}],
    ];
    for (const [path, status, headers] of cases) {
      const response = await platform.server.http.send(path, {
        headers: { authorization: token, ...headers },
      });
      assert.equal(response.status, status, path);
      assert.match(bucketOf(response), /^core \d+\+\d+\/\d+$/, path);
      assert.match(String(response.headers['x-ratelimit-reset']), /^\d{10}$/, path);
      const exposed = String(response.headers['access-control-expose-headers']);
      assert.match(exposed, /Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining/, path);
    }
  });

  it('does not limit other services', async () => {
    for (const path of ['/ops/v1/identities', '/metrics']) {
      const response = await platform.send(path, `Bearer ${platform.admin}`);
      assert.equal(response.status, 200, path);
      assert.equal(response.headers['x-ratelimit-limit'], undefined, path);
    }
  });

  it('a 304 costs nothing with a credential, and one without', async () => {
    const fresh = await platform.token({ kind: 'personal', identity: 'user:8' });
    const first = await platform.send(PROBE, fresh);
    const etag = String(first.headers['etag']);
    const again = async (authorization: Record<string, string>) => {
      const headers = { ...authorization, 'if-none-match': etag };
      const response = await platform.server.http.send(PROBE, { headers });
      assert.equal(response.status, 304);
      return Number(response.headers['x-ratelimit-used']);
    };
    assert.deepEqual(
      [await again({ authorization: fresh }), await again({ authorization: fresh })],
      [1, 1],
    );
    const used = await again({});
    assert.equal(await again({}), used + 1);
    const full = await platform.send(PROBE, fresh);
    assert.equal(full.headers['x-ratelimit-used'], '2');
  });

  it('/rate_limit shows every bucket and is not counted', async () => {
    const fresh = await platform.token({ kind: 'personal', identity: 'user:10' });
    await platform.send(PROBE, fresh);
    for (const path of ['/rate_limit', '/api/v3/rate_limit', '/rate_limit']) {
      const response = await platform.send(path, fresh);
      assert.equal(response.status, 200);
      assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
      assert.equal(response.headers['cache-control'], 'no-cache');
      assert.equal(response.headers['etag'], undefined);
      const reset = resetOf(response);
      const body = JSON.parse(response.text) as {
        resources: Record<string, object>;
        rate: object;
      };
      const core = { limit: 5_000, used: 1, remaining: 4_999, reset };
      // Members in the order that clients have recorded.
      assert.equal(JSON.stringify(body.rate), JSON.stringify(core));
      assert.deepEqual(body.resources['core'], core);
      const search = body.resources['search'] as Record<string, number>;
      assert.deepEqual([search['limit'], search['used'], search['remaining']], [30, 0, 30]);
    }
  });

  it('the later version of the API has no `rate`', async () => {
    const send = async (version: string) => {
      const headers = { authorization: token, 'x-github-api-version': version };
      return Object.keys(
        JSON.parse((await platform.server.http.send('/rate_limit', { headers })).text),
      );
    };
    assert.deepEqual(await send('2022-11-28'), ['resources', 'rate']);
    assert.deepEqual(await send('2026-03-10'), ['resources']);
  });

  it('an unknown, mistyped or revoked credential is rejected and charged to its address', async () => {
    const made = await platform.ops('POST', 'credentials', {
      kind: 'personal',
      identity: 'user:19',
    });
    const revoked = JSON.parse(made.text) as { id: number; token: string };
    assert.equal((await platform.send(PROBE, `token ${revoked.token}`)).status, 200);
    assert.equal((await platform.ops('DELETE', `credentials/${revoked.id}`)).status, 204);
    const mistyped = token.slice(0, -1) + (token.endsWith('0') ? '1' : '0');
    const bad = [
      `token ${revoked.token}`,
      mistyped,
      'Bearer x',
      'Bearer',
      'Digest a=b',
      basic('a', 'b'),
      'Basic %%%',
      `Bearer ${'x'.repeat(9_000)}`,
    ];
    let used = Number((await platform.send(PROBE)).headers['x-ratelimit-used']);
    for (const authorization of bad) {
      const response = await platform.send(PROBE, authorization);
      used += 1;
      assertRefused(response, 401, 'Bad credentials', `${platform.server.url}/docs/rest`);
      assert.equal(bucketOf(response), `core ${used}+${60 - used}/60`);
      assert.equal(response.headers['www-authenticate'], undefined);
    }
  });

  it('an Authorization header has priority over credentials in the query', async () => {
    const response = await platform.send(`${PROBE}?access_token=plp_x&client_id=a`, token);
    assert.equal(response.headers['x-ratelimit-limit'], '5000');
  });

  it('an address over its limit gets the documented refusal and is not charged further', async () => {
    const count = Number((await platform.send('/rate_limit')).headers['x-ratelimit-remaining']);
    for (let index = 0; index < count; index += 1) {
      assert.equal((await platform.send(PROBE)).status, 200);
    }
    for (let index = 0; index < 3; index += 1) {
      const response = await platform.send(PROBE);
      assertRefused(
        response,
        403,
        "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit. Check out the documentation for more details.)",
        `${platform.server.url}${GUIDE}`,
      );
      assert.equal(bucketOf(response), 'core 60+0/60');
      assert.equal(response.headers['retry-after'], undefined);
    }
    assert.equal((await platform.send('/rate_limit')).status, 200);
    assert.equal((await platform.send(PROBE, token)).status, 200);
  });

  it('too many wrong credentials are rejected, but valid ones still work', async () => {
    const other = await platform.token({ kind: 'personal', identity: 'user:20' });
    for (let index = 0; index < 60; index += 1) {
      await platform.send('/rate_limit', `Bearer wrong${index}`);
    }
    const locked = await platform.send('/rate_limit', 'Bearer wrong60');
    assertRefused(
      locked,
      403,
      'Maximum number of login attempts exceeded. Please try again later.',
      `${platform.server.url}/docs/rest`,
    );
    // The address may be shared, so a credential that was never seen is still looked up.
    assert.equal((await platform.send('/rate_limit', other)).status, 200);
    assert.equal((await platform.send('/rate_limit')).status, 200);
  });
});

describe('over the limit', () => {
  let platform: Platform;
  before(async () => {
    platform = await Platform.start([
      '--rate-limit-resources',
      '{"core":{"limit":2,"anonymous_limit":1}}',
      '--webhooks-vendor-name',
      'GitHub',
      '--rate-limit-ietf-headers',
      '--rate-limit-limited-by-header',
      '--rate-limit-retry-after-on-primary',
      '--rate-limit-status-primary',
      '429',
    ]);
  });
  after(async () => await platform[Symbol.asyncDispose]());

  it('the message names the identity', async () => {
    const app = await platform.register({ kind: 'oauth_app', id: 'Iv1.a0' });
    const cases = [
      [await platform.token({ kind: 'personal', identity: 'user:583231' }), 'user ID 583231.', 2],
      [
        await platform.token({ kind: 'installation', identity: 'installation:42' }),
        'installation ID 42.',
        2,
      ],
      [basic('Iv1.a0', text(app, 'secret')), 'OAuth app Iv1.a0.', 2],
    ] as const;
    for (const [authorization, name, limit] of cases) {
      for (let index = 0; index < limit; index += 1) {
        assert.equal((await platform.send(PROBE, authorization)).status, 200, name);
      }
      const asked = Date.now() / 1000;
      const response = await platform.send(PROBE, authorization);
      const answered = Date.now() / 1000;
      assertRefused(
        response,
        429,
        `API rate limit exceeded for ${name}`,
        'https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api',
      );
      assert.equal(response.headers['x-ratelimit-remaining'], '0');
      assert.equal(response.headers['x-github-limited-by'], 'primary');
      // Both headers mean the same time, rounded to seconds, between request and response.
      const moment = resetOf(response) - Number(response.headers['retry-after']);
      assert.ok(
        moment >= asked - 1 && moment <= answered + 1,
        `${moment}: ${asked} to ${answered}`,
      );
    }
  });

  it('the structured headers contain quota, remaining requests and seconds to the reset', async () => {
    const token = await platform.token({ kind: 'personal', identity: 'user:22' });
    const response = await platform.send(PROBE, token);
    assert.equal(response.headers['ratelimit-policy'], '"core";q=2;w=3600');
    assert.match(String(response.headers['ratelimit']), /^"core";r=1;t=(3600|3599)$/);
    const overrides = { core: { limit: 9, window: 60 } };
    await platform.register({ kind: 'user', id: 23, login: 'u23', overrides });
    const other = await platform.token({ kind: 'personal', identity: 'user:23' });
    const own = await platform.send(PROBE, other);
    assert.equal(own.headers['ratelimit-policy'], '"core";q=9;w=60');
    assert.match(String(own.headers['ratelimit']), /^"core";r=8;t=(60|59)$/);
  });
});

it('without the limiter nothing is limited and /rate_limit is not there', async () => {
  await using server = await ServerInProcess.start({
    flags: ['--without-auth', '--services', 'ratelimit', '--rate-limit-enabled', 'false'],
  });
  for (let index = 0; index < 70; index += 1) {
    const probe = await server.http.send(PROBE);
    assert.equal(probe.status, 200);
    assert.equal(probe.headers['x-ratelimit-limit'], undefined);
  }
  for (const path of ['/rate_limit', '/api/v3/rate_limit']) {
    const response = await server.http.send(path);
    assertRefused(response, 404, 'Rate limiting is not enabled.', `${server.url}/docs/rest`);
  }
});

it('reports all invalid settings at startup', async () => {
  await assert.rejects(
    ServerInProcess.start({
      flags: [
        '--services',
        'ratelimit',
        '--rate-limit-exempt-cidrs',
        '10.0.0.0/40',
        '--rate-limit-report',
        'core,nothing',
      ],
    }),
    (error: Error) =>
      /invalid network "10\.0\.0\.0\/40"/.test(error.message) &&
      /resource nothing/.test(error.message),
  );
});
