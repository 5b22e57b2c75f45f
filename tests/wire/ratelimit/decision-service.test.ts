// Source: rate-limits, sections 4.2 and 12. Protocol of the proxy: Envoy's rls.proto.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { bucketOf, Platform, PROBE } from './platform.js';

const FLAGS = ['--rate-limit-resources', '{"core":{"limit":3,"anonymous_limit":2}}'];

interface RejectedRow {
  readonly identity: string;
  readonly current: number;
  readonly previous: number;
  readonly limits: Readonly<Record<string, number>>;
}

describe('the JSON decision API', () => {
  let platform: Platform;
  before(async () => {
    platform = await Platform.start(FLAGS);
  });
  after(async () => await platform[Symbol.asyncDispose]());

  const ask = async (question: object) => {
    const response = await platform.ops('POST', 'rate-limits/check', question);
    assert.equal(response.status, 200, response.text);
    return JSON.parse(response.text);
  };

  it('lists the top callers with their limits', async () => {
    const { headers } = await ask({ identity: 'user:900' });
    await ask({ identity: 'ip:192.0.2.90', cost: 2 });
    const top = JSON.parse((await platform.ops('GET', 'rate-limits/top?resource=core')).text);
    const of = (name: string) =>
      top.top.find(({ identity }: { identity: string }) => identity === name);
    const reset = Number(headers['x-ratelimit-reset']);
    assert.deepEqual(of('user:900'), { identity: 'user:900', used: 1, limit: 3, reset });
    assert.deepEqual([of('ip:192.0.2.90').used, of('ip:192.0.2.90').limit], [2, 2]);
  });

  it('lists the callers with the most rejected requests', async () => {
    const startSec = Math.floor(Date.now() / 1000);
    for (let count = 0; count < 5; count++) await ask({ identity: 'user:901' });
    for (let count = 0; count < 3; count++) await ask({ identity: 'ip:192.0.2.91' });
    await ask({ identity: 'user:901', dry_run: true });
    const list = async (query: string) =>
      JSON.parse((await platform.ops('GET', `rate-limits/rejected${query}`)).text);
    const { window_start, window_seconds, ...found } = await list('');
    assert.equal(window_seconds, 3600);
    assert.equal(window_start % 3600, 0);
    assert.ok(startSec - window_start < 3600 + 60, 'the current hour');
    assert.deepEqual(found, {
      rejected: found.rejected,
      ...{ identities: 2, other_requests: 0 },
    });
    // Two and one requests exceeded the limits of 3 and 2. An hour may have passed in between.
    const seen = found.rejected.map(({ identity, current, previous, limits }: RejectedRow) => [
      identity,
      current + previous,
      limits,
    ]);
    assert.deepEqual(seen, [
      ['user:901', 2, { primary: 2 }],
      ['ip:192.0.2.91', 1, { primary: 1 }],
    ]);
    assert.ok(found.rejected[0].last >= startSec);
    const first = await list('?limit=1');
    assert.deepEqual([first.rejected.length, first.identities], [1, 2]);
    const { identity: _identity, ...own } = found.rejected[0];
    const one = JSON.parse((await platform.ops('GET', 'rate-limits/user%3A901')).text);
    assert.deepEqual(one.rejected, own);
    const other = JSON.parse((await platform.ops('GET', 'rate-limits/user%3A902')).text);
    assert.equal(other.rejected, null);
    // A reset changes the limits, not the counts of the past.
    await platform.ops('POST', 'rate-limits/user%3A901/reset');
    assert.equal((await list('')).rejected.length, 2);
  });

  it('returns a response to forward, and shares its counters with this server', async () => {
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const first = await ask({ identity: 'user:1' });
    const reset = first.headers['x-ratelimit-reset'];
    assert.deepEqual(first, {
      allowed: true,
      limit_kind: null,
      status: 200,
      headers: {
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '2',
        'x-ratelimit-used': '1',
        'x-ratelimit-reset': reset,
        'x-ratelimit-resource': 'core',
      },
      body: null,
      retry_after: null,
      lease_id: null,
    });
    assert.equal(bucketOf(await platform.send(PROBE, token)), 'core 2+1/3');
    assert.equal((await ask({ authorization: token })).headers['x-ratelimit-used'], '3');
    assert.deepEqual(await ask({ identity: 'user:1' }), {
      allowed: false,
      limit_kind: 'primary',
      status: 403,
      headers: {
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-used': '3',
        'x-ratelimit-reset': reset,
        'x-ratelimit-resource': 'core',
      },
      body: {
        message: 'API rate limit exceeded for user ID 1.',
        documentation_url: `${platform.server.url}/docs/rest/using-the-rest-api/rate-limits-for-the-rest-api`,
        status: '403',
      },
      retry_after: null,
      lease_id: null,
    });
  });

  it('rejects a long value without repeating it, and excessive nesting', async () => {
    const endless = `{"identity":"user:1","cost":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const refused = await platform.opsWithText('POST', 'rate-limits/check', endless);
    assert.equal(refused.status, 400, refused.text);
    for (const value of [`[${'1,'.repeat(5_000)}1]`, JSON.stringify('x'.repeat(5_000))]) {
      const question = `{"identity":"user:1","cost":${value}}`;
      const response = await platform.opsWithText('POST', 'rate-limits/check', question);
      assert.equal(response.status, 422, response.text);
      const { errors } = JSON.parse(response.text);
      assert.deepEqual([errors[0].field, 'value' in errors[0]], ['cost', false]);
    }
    const short = await platform.ops('POST', 'rate-limits/check', {
      identity: 'user:1',
      cost: [1],
    });
    assert.deepEqual(JSON.parse(short.text).errors[0].value, [1]);
  });

  it('checks without charging, and counts a given cost', async () => {
    const used = async (question: object) =>
      (await ask({ identity: 'user:2', ...question })).headers['x-ratelimit-used'];
    assert.equal(await used({ dry_run: true }), '0');
    assert.equal(await used({ cost: 2 }), '2');
    assert.equal(await used({ cost: 0 }), '2');
    assert.equal((await ask({ identity: 'user:2', cost: 2, dry_run: true })).allowed, false);
    assert.equal(await used({ cost: 1 }), '3');
  });

  it('finds the first rejected request of several without charging any', async () => {
    const first = { identity: 'user:61', dry_run: true };
    const { allowed, allowed_count, headers } = await ask({ ...first, count: 3 });
    assert.deepEqual([allowed, allowed_count, headers['x-ratelimit-used']], [true, 3, '2']);
    const several = await ask({ ...first, count: 1000 });
    assert.deepEqual([several.allowed, several.allowed_count], [false, 3]);
    assert.deepEqual([several.limit_kind, several.headers['x-ratelimit-used']], ['primary', '3']);
    // Each request is content, and the primary limit does not apply.
    const content = { ...first, cost: 0, points: 0, content: true, count: 100 };
    const refused = await ask(content);
    assert.deepEqual([refused.limit_kind, refused.allowed_count], ['content_minute', 80]);
    assert.equal((await ask(first)).headers['x-ratelimit-used'], '0', 'nothing was charged');
    for (const bad of [
      { identity: 'user:61', count: 2 },
      { ...first, count: 1001 },
    ]) {
      const response = await platform.ops('POST', 'rate-limits/check', bad);
      assert.equal(response.status, 422);
      assert.equal(JSON.parse(response.text).errors[0].field, 'count');
    }
  });

  it('accepts addresses, and charges the address for a bad credential', async () => {
    const used = async (question: object) => (await ask(question)).headers['x-ratelimit-used'];
    assert.equal(await used({ ip: '192.0.2.1' }), '1');
    assert.equal(await used({ ip: '192.0.2.1', authorization: 'Bearer nonsense' }), '2');
    assert.equal(await used({ ip: '192.0.2.2' }), '1');
    assert.equal(await used({ ip: '2001:db8:1:2:3::4' }), '1');
    assert.equal(await used({ identity: 'ip:2001:db8:1:2::/64' }), '2');
  });

  it('returns the status and body that clients expect for a rejected graph query', async () => {
    const question = { identity: 'user:9', graph: { mutation: false, cost: 3000 } };
    assert.equal((await ask(question)).headers['x-ratelimit-resource'], 'graphql');
    const refused = await ask(question);
    assert.equal(refused.status, 200);
    assert.equal(refused.headers['x-ratelimit-used'], '3000');
    assert.deepEqual(refused.body, {
      errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded for user ID 9.' }],
    });
  });

  it('large files: 300 and 3,000 a minute, 429 beyond, at most 100 objects in a batch', async () => {
    for (const [who, limit] of [
      [{ ip: '198.51.100.1' }, 300],
      [{ identity: 'user:4' }, 3_000],
    ] as const) {
      const question = { ...who, resource: 'lfs', points: 0 };
      const full = await ask({ ...question, cost: limit });
      assert.deepEqual([full.allowed, full.headers['x-ratelimit-limit']], [true, String(limit)]);
      assert.ok(Number(full.headers['x-ratelimit-reset']) * 1000 - Date.now() <= 60_000);
      const refused = await ask(question);
      assert.deepEqual([refused.allowed, refused.status], [false, 429]);
    }
    const batch = async (objects: number) =>
      await ask({ ip: '198.51.100.2', resource: 'lfs', objects });
    assert.equal((await batch(100)).allowed, true);
    const large = await batch(101);
    assert.deepEqual([large.allowed, large.status, large.limit_kind], [false, 413, 'lfs_objects']);
    assert.deepEqual(Object.keys(large.body), ['message', 'documentation_url', 'request_id']);
  });

  it('rejects invalid checks without charging', async () => {
    const bad: readonly (readonly [question: object, field: string])[] = [
      [{}, 'identity'],
      [{ identity: 5 }, 'identity'],
      [{ identity: 'user:3', cost: -1 }, 'cost'],
      [{ identity: 'user:3', cost: 1.5 }, 'cost'],
      [{ identity: 'user:3', points: '1' }, 'points'],
      [{ identity: 'user:3', graph: 1 }, 'graph'],
      [{ identity: 'user:3', domain: 'other' }, 'domain'],
      [{ identity: 'user:3', unheard: 1 }, 'unheard'],
      [{ identity: 'user:3', lease: 'yes' }, 'lease'],
    ];
    for (const [question, field] of bad) {
      const response = await platform.ops('POST', 'rate-limits/check', question);
      assert.equal(response.status, 422, response.text);
      assert.equal(JSON.parse(response.text).errors[0].field, field);
      // A batch with one invalid check does not charge the valid ones either.
      const checks = [{ identity: 'user:3' }, question];
      const batch = await platform.ops('POST', 'rate-limits/check-batch', { checks });
      assert.equal(batch.status, 422);
    }
    const ban = { identity: 'user:3', duration_secs: 5 };
    const misspelt = await platform.ops('POST', 'rate-limits/bans', ban);
    assert.equal(misspelt.status, 422);
    assert.equal(JSON.parse(misspelt.text).errors[0].field, 'duration_secs');
    for (const question of [
      { identity: 'nobody' },
      { identity: 'user:3', resource: 'none' },
      { ip: 'a' },
    ]) {
      assert.equal((await platform.ops('POST', 'rate-limits/check', question)).status, 422);
    }
    const plain = { method: 'POST', headers: { authorization: `Bearer ${platform.admin}` } };
    for (const body of ['{', '[]', '1']) {
      const path = '/ops/v1/rate-limits/check';
      const response = await platform.server.http.send(path, { ...plain, body });
      assert.equal(response.status, 400, body);
    }
    assert.equal(
      (await ask({ identity: 'user:3', dry_run: true })).headers['x-ratelimit-used'],
      '0',
    );
    assert.equal((await platform.send('/ops/v1/rate-limits/check', undefined, 'POST')).status, 401);
  });

  it('charges nothing for a batch with an invalid check', async () => {
    const good = { identity: 'user:77' };
    for (const bad of [
      { ...good, resource: 'none' },
      { identity: 'nonsense' },
      { ip: 'nowhere' },
      { ...good, cost: -1 },
    ]) {
      const response = await platform.ops('POST', 'rate-limits/check-batch', {
        checks: [good, bad],
      });
      assert.equal(response.status, 422, response.text);
    }
    const checks = [good, good, good, good];
    const response = await platform.ops('POST', 'rate-limits/check-batch', { checks });
    const results: { allowed: boolean }[] = JSON.parse(response.text).results;
    assert.deepEqual(
      results.map(({ allowed }) => allowed),
      [true, true, true, false],
    );
  });

  it('rejects CPU times of more than a day', async () => {
    const { lease_id } = await ask({ identity: 'user:78', lease: true });
    const finish = (cpu_ms: number) =>
      platform.ops('POST', 'rate-limits/finish', { lease_id, status: 200, cpu_ms });
    for (const cpu_ms of [86_400_001, 1e300, -1]) {
      assert.equal((await finish(cpu_ms)).status, 422, String(cpu_ms));
    }
    assert.equal((await finish(86_400_000)).status, 204);
    assert.equal((await ask({ identity: 'user:78' })).limit_kind, 'cpu');
  });

  it('refunds a 304 only to authenticated callers', async () => {
    for (const [identity, used] of [
      ['user:79', '0'],
      ['ip:192.0.2.79', '1'],
    ] as const) {
      const { lease_id } = await ask({ identity, lease: true });
      await platform.ops('POST', 'rate-limits/finish', { lease_id, status: 304 });
      const { headers } = await ask({ identity, cost: 0 });
      assert.equal(headers['x-ratelimit-used'], used, identity);
    }
  });

  it('lists the cost of each rate-limited route', async () => {
    const { routes } = JSON.parse((await platform.ops('GET', 'rate-limits/routes')).text);
    const one = routes.find(
      (route: { path: string; method: string }) =>
        route.path === '/rate_limit' && route.method === 'GET',
    );
    assert.deepEqual(one, {
      service: 'ratelimit',
      method: 'GET',
      path: '/rate_limit',
      endpoint: '/rate_limit',
      resource: 'core',
      cost: 0,
      points: 1,
      content: false,
      heavy: 0,
      exempt: false,
    });
  });
});

describe('the check of a proxy before it forwards a request', () => {
  it('returns 204, 401 or 403 with the headers', async () => {
    await using platform = await Platform.start([...FLAGS, '--rate-limit-status-primary', '429']);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const ask = async (headers: Record<string, string>) => {
      const response = await platform.server.http.send('/ops/v1/rate-limits/auth', {
        headers: { 'x-original-uri': '/things?a=1', 'x-original-method': 'GET', ...headers },
      });
      return `${response.status} ${bucketOf(response)}`;
    };
    const as = { authorization: token };
    assert.equal(await ask(as), '204 core 1+2/3');
    assert.equal(await ask(as), '204 core 2+1/3');
    assert.equal(await ask(as), '204 core 3+0/3');
    assert.equal(await ask(as), '403 core 3+0/3');
    assert.equal(await ask({ authorization: 'Bearer nonsense' }), '401 core 1+1/2');
    assert.equal(await ask({}), '204 core 2+0/2');
    // A client cannot spend the limits of another address, or select a resource without a limit.
    assert.equal(await ask({ 'x-forwarded-for': '192.0.2.7' }), '403 core 2+0/2');
    assert.equal(await ask({ 'x-ratelimit-resource': 'gamedata' }), '403 core 2+0/2');
    const own = await platform.server.http.send('/ops/v1/rate-limits/auth?resource=search');
    assert.equal(`${own.status} ${bucketOf(own)}`, '204 search 1+9/10');
  });

  it('stops looking up credentials of an address after more than 50 wrong ones', async () => {
    await using platform = await Platform.start([
      '--rate-limit-resources',
      '{"core":{"anonymous_limit":1000}}',
    ]);
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    const ask = (authorization: string) =>
      platform.server.http.send('/ops/v1/rate-limits/auth', { headers: { authorization } });
    for (let count = 1; count <= 51; count++) {
      assert.equal((await ask(`Bearer wrong-${count}`)).status, 401, `number ${count}`);
    }
    const { status, text } = await ask('Bearer wrong-52');
    assert.equal(status, 403);
    const message = 'Maximum number of login attempts exceeded. Please try again later.';
    assert.equal(JSON.parse(text).message, message);
    assert.equal((await ask(token)).status, 204);
    const things = await platform.server.http.send('/rate_limit', {
      headers: { authorization: 'Bearer wrong-53' },
    });
    assert.equal(JSON.parse(things.text).message, message);
  });
});

/** Written from the published description; the field numbers define the protocol. */
const PROTO = `syntax = "proto3";
package envoy.service.ratelimit.v3;
message UInt64Value { uint64 value = 1; }
message Duration { int64 seconds = 1; int32 nanos = 2; }
message HeaderValue { string key = 1; string value = 2; }
enum Unit { UNKNOWN_UNIT = 0; SECOND = 1; MINUTE = 2; HOUR = 3; DAY = 4; MONTH = 5; YEAR = 6; WEEK = 7; }
message Entry { string key = 1; string value = 2; }
message Override { uint32 requests_per_unit = 1; Unit unit = 2; }
message Descriptor { repeated Entry entries = 1; Override limit = 2; UInt64Value hits_addend = 3; }
message RateLimitRequest { string domain = 1; repeated Descriptor descriptors = 2; uint32 hits_addend = 3; }
enum Code { UNKNOWN = 0; OK = 1; OVER_LIMIT = 2; }
message Limit { uint32 requests_per_unit = 1; Unit unit = 2; string name = 3; }
message Status { Code code = 1; Limit current_limit = 2; uint32 limit_remaining = 3; Duration duration_until_reset = 4; }
message RateLimitResponse {
  Code overall_code = 1; repeated Status statuses = 2; repeated HeaderValue response_headers_to_add = 3;
  repeated HeaderValue request_headers_to_add = 4; bytes raw_body = 5;
}
service RateLimitService { rpc ShouldRateLimit(RateLimitRequest) returns (RateLimitResponse); }
`;

type Ask = (request: object) => Promise<Record<string, unknown>>;

async function connect(port: number, run: (ask: Ask) => Promise<void>): Promise<void> {
  const folder = await temporaryFolder();
  const file = join(folder, 'rls.proto');
  await writeFile(file, PROTO);
  const definition = loader.loadSync(file, {
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
  });
  const parsed = grpc.loadPackageDefinition(definition) as unknown as {
    envoy: { service: { ratelimit: { v3: { RateLimitService: grpc.ServiceClientConstructor } } } };
  };
  const Client = parsed.envoy.service.ratelimit.v3.RateLimitService;
  const client = new Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const ask: Ask = (request) =>
    new Promise((resolve, reject) => {
      const call = client['ShouldRateLimit'] as (
        request: object,
        done: (error: Error | null, response: Record<string, unknown>) => void,
      ) => void;
      call.call(client, request, (error, response) => (error ? reject(error) : resolve(response)));
    });
  try {
    await run(ask);
  } finally {
    client.close();
  }
}

const entries = (fields: Record<string, string>) =>
  Object.entries(fields).map(([key, value]) => ({ key, value }));

describe('Envoy', () => {
  it('is served over gRPC, each descriptor by its own identity', async () => {
    await using platform = await Platform.start([...FLAGS, '--rate-limit-envoy-port', '0']);
    const line = platform.server.logged('envoy rate limit service is listening');
    const token = await platform.token({ kind: 'personal', identity: 'user:1' });
    await connect(Number(line?.['port']), async (ask) => {
      const one = { domain: 'edge', descriptors: [{ entries: entries({ authorization: token }) }] };
      const first = await ask(one);
      assert.equal(first['overall_code'], 'OK');
      const [status] = first['statuses'] as Record<string, unknown>[];
      assert.deepEqual(status?.['current_limit'], {
        requests_per_unit: 3,
        unit: 'HOUR',
        name: 'core',
      });
      assert.equal(status?.['limit_remaining'], 2);
      const seconds = Number(Reflect.get(Object(status?.['duration_until_reset']), 'seconds'));
      assert.ok(seconds > 3_590 && seconds <= 3_600);
      const headers = new Map(
        (first['response_headers_to_add'] as { key: string; value: string }[]).map(
          ({ key, value }) => [key, value],
        ),
      );
      assert.equal(headers.get('x-ratelimit-remaining'), '2');

      const two = await ask({
        descriptors: [
          { entries: entries({ identity: 'user:1', path: '/x', method: 'POST' }) },
          { entries: entries({ remote_address: '192.0.2.9' }) },
          { entries: entries({ generic_key: 'not ours' }) },
        ],
        hits_addend: 2,
      });
      assert.equal(two['overall_code'], 'OK');
      const remaining = (two['statuses'] as { limit_remaining: number }[]).map(
        ({ limit_remaining }) => limit_remaining,
      );
      assert.deepEqual(remaining, [0, 0, 0]);

      const over = await ask(one);
      assert.equal(over['overall_code'], 'OVER_LIMIT');
      const body = JSON.parse(String(over['raw_body']));
      assert.equal(body.message, 'API rate limit exceeded for user ID 1.');

      const own = {
        descriptors: [
          {
            entries: entries({ identity: 'user:2', resource: 'search' }),
            limit: { requests_per_unit: 2, unit: 'DAY' },
            hits_addend: { value: 2 },
          },
        ],
      };
      assert.equal((await ask(own))['overall_code'], 'OK');
      assert.equal((await ask(own))['overall_code'], 'OVER_LIMIT');
      await assert.rejects(
        ask({ descriptors: [{ entries: entries({ identity: 'user:1', resource: 'none' }) }] }),
        /INVALID_ARGUMENT/,
      );
    });
  });

  it("counts its own limit separately from the identity's limit", async () => {
    await using platform = await Platform.start([...FLAGS, '--rate-limit-envoy-port', '0']);
    const line = platform.server.logged('envoy rate limit service is listening');
    await platform.ops('POST', 'rate-limits/check', { identity: 'user:1' });
    const before = (await platform.ops('GET', 'rate-limits/user:1')).text;
    const { reset } = JSON.parse(before).buckets.core;
    await connect(Number(line?.['port']), async (ask) => {
      for (const unit of ['SECOND', 'MINUTE', 'DAY']) {
        const limit = { requests_per_unit: 9, unit };
        const descriptors = [{ entries: entries({ identity: 'user:1' }), limit }];
        const { statuses } = await ask({ descriptors });
        const [status] = statuses as Record<string, unknown>[];
        assert.equal(status?.['limit_remaining'], 8, unit);
        assert.deepEqual(status?.['current_limit'], { ...limit, name: 'core' });
      }
    });
    const { core } = JSON.parse((await platform.ops('GET', 'rate-limits/user:1')).text).buckets;
    assert.deepEqual([core.used, core.reset], [1, reset]);
  });

  // Source: grpc.health.v1, used by Envoy and container probes; the reference service is called
  // `ratelimit` there.
  it('reports that it is healthy', async () => {
    await using platform = await Platform.start([...FLAGS, '--rate-limit-envoy-port', '0']);
    const port = platform.server.logged('envoy rate limit service is listening')?.['port'];
    const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    const check = (service: string) =>
      new Promise<string>((resolve) => {
        const text = Buffer.from(service);
        client.makeUnaryRequest(
          '/grpc.health.v1.Health/Check',
          (name: Buffer) => Buffer.concat([Buffer.from([0x0a, name.length]), name]),
          (bytes: Buffer) => bytes.toString('hex'),
          text,
          (error, status) =>
            resolve(error === null ? String(status) : (grpc.status[error.code] ?? '')),
        );
      });
    try {
      // Field 1 with value 1 means "serving".
      for (const name of ['', 'ratelimit', 'envoy.service.ratelimit.v3.RateLimitService']) {
        assert.equal(await check(name), '0801', name);
      }
      assert.equal(await check('other'), 'NOT_FOUND');
    } finally {
      client.close();
    }
  });

  it('is also available over HTTP for operators', async () => {
    await using platform = await Platform.start(FLAGS);
    const ask = async (body: string) =>
      await platform.server.http.send('/json', {
        body,
        headers: { authorization: `Bearer ${platform.admin}` },
      });
    const question = JSON.stringify({
      domain: 'edge',
      descriptors: [{ entries: entries({ remote_address: '192.0.2.1' }) }],
    });
    const first = await ask(question);
    assert.equal(first.status, 200, first.text);
    const response = JSON.parse(first.text);
    assert.equal(response.overallCode, 'OK');
    assert.deepEqual(response.statuses, [
      {
        code: 'OK',
        currentLimit: { requestsPerUnit: 2, unit: 'HOUR', name: 'core' },
        limitRemaining: 1,
        durationUntilReset: '3600s',
      },
    ]);
    assert.equal((await ask(question)).status, 200);
    // Like the reference service: a proxy that names no descriptor is misconfigured.
    const none = await ask('{"domain":"edge","descriptors":[]}');
    assert.equal(none.status, 400);
    assert.equal(JSON.parse(none.text).message, 'rate limit descriptor list must not be empty');
    const over = await ask(question);
    assert.equal(over.status, 429);
    const body = Buffer.from(JSON.parse(over.text).rawBody, 'base64').toString();
    assert.match(JSON.parse(body).message, /^API rate limit exceeded for 192\.0\.2\.1\./);
    assert.equal((await ask('{')).status, 400);
    assert.equal((await platform.server.http.send('/json', { body: question })).status, 401);
  });
});
