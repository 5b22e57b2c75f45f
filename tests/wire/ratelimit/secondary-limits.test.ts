// Source: rate-limits, sections 8, 9, 15.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Http2Client } from '../../harness/index.js';
import { bucketOf, Platform, PROBE } from './platform.js';

/** Primary limits far above all secondary limits. */
const ROOMY = ['--rate-limit-resources', '{"core":{"limit":1000000,"anonymous_limit":1000000}}'];

interface Response {
  readonly allowed: boolean;
  readonly limit_kind: string | null;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
  readonly retry_after: number | null;
  readonly lease_id: string | null;
}

async function ask(platform: Platform, question: object): Promise<Response> {
  const response = await platform.ops('POST', 'rate-limits/check', question);
  assert.equal(response.status, 200, response.text);
  return JSON.parse(response.text) as Response;
}

/** Number of admitted checks among `count` equal ones, and the first refusal. */
async function askMany(
  platform: Platform,
  question: object,
  count: number,
): Promise<{ readonly allowed: number; readonly refusal: Response | undefined }> {
  const results: Response[] = [];
  for (let left = count; left > 0; left -= 500) {
    const checks = Array.from({ length: Math.min(left, 500) }, () => question);
    const response = await platform.ops('POST', 'rate-limits/check-batch', { checks });
    assert.equal(response.status, 200, response.text);
    results.push(...(JSON.parse(response.text) as { results: Response[] }).results);
  }
  return {
    allowed: results.filter(({ allowed }) => allowed).length,
    refusal: results.find(({ allowed }) => !allowed),
  };
}

const SECONDARY =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
const CONTENT =
  'You have exceeded a secondary rate limit and have been temporarily blocked from content creation. Please retry your request again later.';

function assertSecondary(
  platform: Platform,
  response: Response | undefined,
  message: string,
): void {
  assert.ok(response);
  assert.equal(response.status, 403);
  assert.deepEqual(response.body, {
    message,
    documentation_url: `${platform.server.url}/docs/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits`,
    status: '403',
  });
  assert.notEqual(response.headers['x-ratelimit-remaining'], '0');
  assert.match(String(response.headers['retry-after']), /^[1-9]\d{0,3}$/);
}

describe('each secondary limit', () => {
  it('the two forms of a path are one endpoint', async () => {
    await using platform = await Platform.start([
      ...ROOMY,
      '--rate-limit-secondary-points-rest',
      '6',
    ]);
    const statuses: number[] = [];
    for (const path of ['/meta', PROBE, '/meta', PROBE, '/meta', PROBE, '/meta', PROBE]) {
      statuses.push((await platform.send(path)).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 403, 403]);
  });

  it('900 points per endpoint and minute: 900 reads or 180 writes, each endpoint apart', async () => {
    await using platform = await Platform.start(ROOMY);
    for (const [method, allowed, identity] of [
      ['GET', 900, 'user:1'],
      ['HEAD', 900, 'user:2'],
      ['OPTIONS', 900, 'user:3'],
      ['POST', 180, 'user:4'],
      ['PATCH', 180, 'user:5'],
      ['PUT', 180, 'user:6'],
      ['DELETE', 180, 'user:7'],
    ] as const) {
      const question = { identity, endpoint: '/a', method };
      const found = await askMany(platform, question, allowed + 20);
      assert.equal(found.allowed, allowed, method);
      assert.equal(found.refusal?.limit_kind, 'points_rest');
      assertSecondary(platform, found.refusal, SECONDARY);
      assert.ok((found.refusal?.retry_after ?? 0) <= 61);
      assert.equal((await ask(platform, { ...question, endpoint: '/b' })).allowed, true, method);
    }
    // Source: rate-limits, section 5.3: a preflight request is free, regardless of the given cost.
    const left = async (method: string): Promise<number> => {
      const response = await ask(platform, { identity: 'user:9', endpoint: '/a', cost: 5, method });
      return Number(response.headers['x-ratelimit-remaining']);
    };
    const full = await left('OPTIONS');
    assert.deepEqual([await left('OPTIONS'), await left('GET')], [full, full - 5]);
    const declared = await askMany(platform, { identity: 'user:8', points: 100 }, 12);
    assert.equal(declared.allowed, 9);
  });

  it('2,000 points of graph queries per minute: 2,000 reads or 400 changes', async () => {
    await using platform = await Platform.start([
      '--rate-limit-resources',
      '{"graphql":{"limit":100000}}',
    ]);
    for (const [mutation, allowed, identity] of [
      [false, 2_000, 'user:1'],
      [true, 400, 'user:2'],
    ] as const) {
      // The resource limit of 5,000 must not apply first.
      await platform.register({
        kind: 'user',
        id: Number(identity.slice(5)),
        overrides: { graphql: { limit: 100_000, window: 3600 } },
      });
      const question = { identity, endpoint: '/graphql', graph: { mutation } };
      const found = await askMany(platform, question, allowed + 10);
      assert.equal(found.allowed, allowed);
      assert.equal(found.refusal?.limit_kind, 'points_graph');
      assertSecondary(platform, found.refusal, SECONDARY);
    }
  });

  it('100 requests at the same time, REST and graph together, each slot given back', async () => {
    await using platform = await Platform.start(ROOMY);
    const leases: string[] = [];
    for (let index = 0; index < 120; index += 1) {
      const graph = index % 2 === 1;
      const response = await ask(platform, { identity: 'user:1', graph, lease: true });
      if (response.allowed) leases.push(String(response.lease_id));
      else {
        assert.equal(response.limit_kind, 'concurrency');
        assert.equal(response.headers['retry-after'], '5');
        assertSecondary(platform, response, SECONDARY);
      }
    }
    assert.equal(leases.length, 100);
    const end = await platform.ops('POST', 'rate-limits/finish', { lease_id: leases[0] });
    assert.equal(end.status, 204);
    const again = await platform.ops('POST', 'rate-limits/finish', { lease_id: leases[0] });
    assert.equal(again.status, 404);
    assert.equal((await ask(platform, { identity: 'user:1', lease: true })).allowed, true);
    assert.equal((await ask(platform, { identity: 'user:1', lease: true })).allowed, false);
    assert.equal((await ask(platform, { identity: 'user:2', lease: true })).allowed, true);
  });

  it('90 s of CPU time within a minute, 60 s of it for graph queries', async () => {
    await using platform = await Platform.start(ROOMY);
    const spend = async (identity: string, graph: boolean, cpu_ms: number) => {
      const { lease_id, allowed } = await ask(platform, { identity, graph, lease: true });
      assert.equal(allowed, true);
      await platform.ops('POST', 'rate-limits/finish', { lease_id, status: 200, cpu_ms });
    };
    await spend('user:1', false, 89_999);
    await spend('user:1', false, 1);
    const rest = await ask(platform, { identity: 'user:1' });
    assert.equal(rest.limit_kind, 'cpu');
    assertSecondary(platform, rest, SECONDARY);
    await spend('user:2', true, 60_000);
    assert.equal(
      (await ask(platform, { identity: 'user:2', graph: true })).limit_kind,
      'cpu_graph',
    );
    assert.equal((await ask(platform, { identity: 'user:2' })).allowed, true);
  });

  it('80 requests that create content per minute, 500 per hour, other systems included', async () => {
    await using platform = await Platform.start(ROOMY);
    const question = { identity: 'user:1', content: true, points: 1 };
    const minute = await askMany(platform, question, 100);
    assert.equal(minute.allowed, 80);
    assert.equal(minute.refusal?.limit_kind, 'content_minute');
    assertSecondary(platform, minute.refusal, CONTENT);
    assert.equal((await ask(platform, { identity: 'user:1' })).allowed, true);
    const own = { identity: 'user:2', content: true, content_per_minute: 3, endpoint: '/c' };
    assert.equal((await askMany(platform, own, 5)).allowed, 3);
    assert.equal((await ask(platform, { ...own, endpoint: '/d' })).allowed, true);
  });

  it('rejects the 501st request within an hour, however they are spread', async () => {
    await using platform = await Platform.start([
      ...ROOMY,
      '--rate-limit-secondary-content-minute',
      '100000',
    ]);
    const question = { identity: 'user:1', content: true, points: 1 };
    const hour = await askMany(platform, question, 520);
    assert.equal(hour.allowed, 500);
    assert.equal(hour.refusal?.limit_kind, 'content_hour');
    assertSecondary(platform, hour.refusal, CONTENT);
    assert.ok((hour.refusal?.retry_after ?? 0) > 3_500);
  });

  it('declared weights of heavy requests come to at most 100 per minute', async () => {
    await using platform = await Platform.start(ROOMY);
    const found = await askMany(platform, { identity: 'user:1', heavy: 30 }, 5);
    assert.equal(found.allowed, 3);
    assert.equal(found.refusal?.limit_kind, 'heavy');
    assertSecondary(platform, found.refusal, SECONDARY);
    assert.equal((await ask(platform, { identity: 'user:1', heavy: 10 })).allowed, true);
  });
});

describe('over HTTP', () => {
  it('a refusal contains the retry time, but not the exceeded limit', async () => {
    await using platform = await Platform.start([
      ...ROOMY,
      '--rate-limit-secondary-points-rest',
      '10',
    ]);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    for (let index = 0; index < 10; index += 1) await platform.send(PROBE, token);
    const refused = await platform.send(PROBE, token);
    assert.equal(refused.status, 403);
    assert.equal(refused.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(JSON.parse(refused.text).message, SECONDARY);
    assert.match(JSON.parse(refused.text).documentation_url, /#about-secondary-rate-limits$/);
    assert.equal(bucketOf(refused), 'core 10+999990/1000000');
    assert.equal(refused.headers['x-vendor-limited-by'], undefined);
    const wait = Number(refused.headers['retry-after']);
    assert.ok(wait >= 1 && wait <= 61, String(wait));
    // Another endpoint has its own points, and `/rate_limit` does not show secondary limits.
    const status = await platform.send('/rate_limit', token);
    assert.equal(status.status, 200);
    assert.doesNotMatch(status.text, /point|secondary|concurren/);
  });

  it('/rate_limit costs a point', async () => {
    await using platform = await Platform.start(['--rate-limit-secondary-points-rest', '3']);
    const statuses: number[] = [];
    for (let index = 0; index < 4; index += 1) {
      statuses.push((await platform.send('/rate_limit')).status);
    }
    assert.deepEqual(statuses, [200, 200, 200, 403]);
  });

  it('a preflight costs nothing of the primary limit and a point', async () => {
    await using platform = await Platform.start(['--rate-limit-secondary-points-rest', '3']);
    for (let index = 0; index < 3; index += 1) {
      const preflight = await platform.send(PROBE, undefined, 'OPTIONS');
      assert.equal(preflight.status, 204);
      assert.equal(bucketOf(preflight), 'core 0+60/60');
    }
    assert.equal((await platform.send(PROBE, undefined, 'OPTIONS')).status, 403);
  });

  it('admits exactly 5,000 of 10,000 concurrent requests of one user', async () => {
    await using platform = await Platform.start([
      '--rate-limit-secondary-points-rest',
      '1000000',
      '--rate-limit-ban-enabled',
      'false',
    ]);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    let passed = 0;
    let refused = 0;
    // Many streams over a few connections make the requests truly concurrent.
    const sendMany = async (count: number) => {
      await using client = new Http2Client(platform.server.url);
      for (let left = count; left > 0; left -= 50) {
        const responses = await Promise.all(
          Array.from({ length: Math.min(50, left) }, () =>
            client.send(PROBE, { headers: { authorization: token } }),
          ),
        );
        for (const { status } of responses) {
          if (status === 200) passed += 1;
          else if (status === 403) refused += 1;
        }
      }
    };
    // 50 streams on each of two connections stay below the concurrency limit of 100.
    await Promise.all([sendMany(5_000), sendMany(5_000)]);
    assert.deepEqual([passed, refused], [5_000, 5_000]);
    const status = JSON.parse((await platform.send('/rate_limit', token)).text) as {
      rate: { used: number };
    };
    assert.equal(status.rate.used, 5_000);
  });
});

describe('an identity that continues after refusals', () => {
  it('is banned for increasing times, listed and unbanned by the operator', async () => {
    await using platform = await Platform.start([
      '--rate-limit-ban-threshold',
      '5',
      '--rate-limit-secondary-points-rest',
      '2',
    ]);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    for (let index = 0; index < 7; index += 1) await platform.send(PROBE, token);
    const banned = await platform.send('/rate_limit', token);
    assert.equal(banned.status, 403);
    assert.equal(JSON.parse(banned.text).message, SECONDARY);
    const wait = Number(banned.headers['retry-after']);
    assert.ok(wait > 590 && wait <= 600, String(wait));
    const list = await platform.ops('GET', 'rate-limits/bans');
    const { bans } = JSON.parse(list.text) as { bans: { identity: string; level: number }[] };
    assert.deepEqual(
      bans.map(({ identity, level }) => [identity, level]),
      [['user:1', 1]],
    );
    assert.equal((await platform.ops('DELETE', 'rate-limits/bans/user:1')).status, 204);
    assert.equal((await platform.ops('DELETE', 'rate-limits/bans/user:1')).status, 404);
    assert.equal((await platform.send('/rate_limit', token)).status, 200);
  });

  it('is banned manually, and gets the primary refusal when that limit is exhausted', async () => {
    await using platform = await Platform.start(['--rate-limit-resources', '{"core":{"limit":1}}']);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    await platform.send(PROBE, token);
    const made = await platform.ops('POST', 'rate-limits/bans', {
      identity: 'user:1',
      duration_seconds: 1,
    });
    assert.equal(made.status, 201);
    const banned = await platform.send(PROBE, token);
    assert.equal(JSON.parse(banned.text).message, 'API rate limit exceeded for user ID 1.');
    assert.match(String(banned.headers['retry-after']), /^1$/);
    const shown = JSON.parse((await platform.ops('GET', 'rate-limits/user:1')).text);
    assert.equal(shown.ban.level, 1);
    assert.equal(shown.buckets.core.used, 1);
    await sleep(1_100);
    assert.equal((await platform.send('/rate_limit', token)).status, 200);
  });

  it('is banned manually for the duration of a first ban by default', async () => {
    await using platform = await Platform.start(['--rate-limit-ban-minutes', '2']);
    const made = await platform.ops('POST', 'rate-limits/bans', { identity: 'user:1' });
    const leftSec = JSON.parse(made.text).until - Date.now() / 1000;
    assert.ok(leftSec > 110 && leftSec <= 121, String(leftSec));
  });
});

it('an operator reads and resets the counters of an identity', async () => {
  await using platform = await Platform.start();
  const token = await platform.token({ kind: 'personal', identity: 'user:1' });
  await platform.send(PROBE, token);
  await ask(platform, { identity: 'user:1', content: true, heavy: 7, endpoint: '/x' });
  const show = async () => JSON.parse((await platform.ops('GET', 'rate-limits/user:1')).text);
  const before = await show();
  assert.equal(before.buckets.core.used, 2);
  assert.deepEqual(
    [before.secondary.content_minute, before.secondary.heavy, before.secondary.points],
    [
      1,
      7,
      [
        { endpoint: '/meta', points: 1 },
        { endpoint: '/x', points: 1 },
      ],
    ],
  );
  const nowSec = Date.now() / 1000;
  const top = JSON.parse((await platform.ops('GET', 'rate-limits/top?resource=core')).text);
  const [{ reset, ...first }] = top.top;
  assert.deepEqual([top.resource, top.top.length], ['core', 1]);
  assert.deepEqual(first, { identity: 'user:1', used: 2, limit: 5000 });
  assert.ok(reset > nowSec && reset <= nowSec + 3601, String(reset));
  assert.equal((await platform.ops('POST', 'rate-limits/user:1/reset')).status, 204);
  assert.equal((await show()).buckets.core.used, 0);
  assert.equal(bucketOf(await platform.send(PROBE, token)), 'core 1+4999/5000');
});

it('shadow mode counts and refuses nothing', async () => {
  await using platform = await Platform.start([
    '--rate-limit-shadow',
    '--rate-limit-resources',
    '{"core":{"anonymous_limit":2}}',
  ]);
  for (let index = 0; index < 5; index += 1) {
    const response = await platform.send(PROBE);
    assert.equal(response.status, 200);
    assert.equal(bucketOf(response), `core ${Math.min(2, index + 1)}+${Math.max(0, 1 - index)}/2`);
  }
  const metrics = await platform.send('/metrics', `Bearer ${platform.admin}`);
  assert.match(metrics.text, /^ratelimit_shadow_rejected_total 3$/m);
  assert.match(metrics.text, /^ratelimit_rejected_total\{limit="primary"\} 3$/m);
  assert.match(
    metrics.text,
    /^ratelimit_decisions_total\{service="ratelimit",resource="core",outcome="shadow_rejected"\} 3$/m,
  );
  assert.doesNotMatch(metrics.text, /127\.0\.0\.1|ip:/);
});
