// Source: rate-limits, sections 14.2, 14.3, 15.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Http2Client, ServerInProcess } from '../../harness/index.js';
import { bucketOf, Platform, PROBE } from './platform.js';

const CHECK = '/ops/v1/rate-limits/check';
const url = process.env['PLINTH_TEST_REDIS_URL'] ?? '';
const skip = url === '' && 'PLINTH_TEST_REDIS_URL names no Redis';

const redisFlags = (prefix: string, timeoutMs = 5_000) => [
  '--rate-limit-store',
  'redis',
  '--rate-limit-redis-url',
  url,
  '--rate-limit-redis-prefix',
  prefix,
  // All processes of this test and Redis share the machine.
  '--rate-limit-redis-timeout-ms',
  String(timeoutMs),
];

/** Servers with one address each and shared counters. */
class Nodes implements AsyncDisposable {
  readonly all: readonly ServerInProcess[];

  private constructor(all: readonly ServerInProcess[]) {
    this.all = all;
  }

  static async start(count: number, more: readonly string[] = []): Promise<Nodes> {
    const flags = [
      '--without-auth',
      '--services',
      'ratelimit',
      '--rate-limit-resources',
      '{"core":{"anonymous_limit":5000}}',
      '--rate-limit-secondary-points-rest',
      '1000000',
      '--rate-limit-secondary-concurrency',
      '1000000',
      '--rate-limit-ban-enabled',
      'false',
      ...redisFlags(`test:${randomUUID()}:`),
      ...more,
    ];
    const starts = Array.from({ length: count }, () => ServerInProcess.start({ flags }));
    return new Nodes(await Promise.all(starts));
  }

  /** Sends 2,500 requests to each server, 100 at a time. */
  async flood(): Promise<{ passed: number; refused: number }> {
    const counts = { passed: 0, refused: 0 };
    await Promise.all(
      this.all.map(async (node) => {
        await using client = new Http2Client(node.url);
        for (let round = 0; round < 25; round += 1) {
          const sent = Array.from({ length: 100 }, () => client.send(PROBE));
          for (const { status } of await Promise.all(sent)) {
            if (status === 200) counts.passed += 1;
            else if (status === 403) counts.refused += 1;
          }
        }
      }),
    );
    return counts;
  }

  async usedOnEach(): Promise<readonly number[]> {
    return await Promise.all(
      this.all.map(async ({ http }) => {
        const { text } = await http.send('/rate_limit');
        return (JSON.parse(text) as { rate: { used: number } }).rate.used;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((node) => node.close()));
  }
}

describe('nodes that share a Redis', { skip }, () => {
  it('admit exactly 5,000 of 10,000 requests of one address, together', async () => {
    await using nodes = await Nodes.start(4);
    const { passed, refused } = await nodes.flood();
    assert.deepEqual([passed, refused], [5_000, 5_000]);
    assert.deepEqual(await nodes.usedOnEach(), [5_000, 5_000, 5_000, 5_000]);
  });

  it('do not treat a burst as an outage, although its last calls exceed the timeout', async () => {
    await using nodes = await Nodes.start(2, redisFlags(`test:${randomUUID()}:`, 150));
    const body = JSON.stringify({ identity: 'user:1' });
    const counts = { passed: 0, refused: 0 };
    // Sends half of them to each node, all at the same time.
    await Promise.all(
      nodes.all.flatMap((node) =>
        Array.from({ length: 30 }, async () => {
          await using client = new Http2Client(node.url);
          const sent = Array.from({ length: 100 }, () => client.send(CHECK, { body }));
          for (const { text } of await Promise.all(sent)) {
            counts[JSON.parse(text).allowed ? 'passed' : 'refused'] += 1;
          }
        }),
      ),
    );
    assert.deepEqual(counts, { passed: 5_000, refused: 1_000 });
  });

  it('with reserved units admit at most 5,000, and all of them once no units are idle', async () => {
    const reserve = 100;
    await using nodes = await Nodes.start(4, [
      '--rate-limit-redis-reserve',
      String(reserve),
      // Units are reserved only for requests without secondary limits.
      '--rate-limit-services',
      '{"ratelimit":{"secondary":"none"}}',
    ]);
    const { passed, refused } = await nodes.flood();
    assert.equal(passed + refused, 10_000);
    assert.ok(passed <= 5_000 && passed >= 5_000 - 4 * reserve, String(passed));
    let total = passed;
    for (let round = 0; total < 5_000 && round < 10; round += 1) {
      await sleep(1_050);
      for (const node of nodes.all) {
        for (let sent = 0; sent < 4 * reserve; sent += 1) {
          if ((await node.http.send(PROBE)).status !== 200) break;
          total += 1;
        }
      }
    }
    assert.equal(total, 5_000);
    assert.deepEqual(await nodes.usedOnEach(), [5_000, 5_000, 5_000, 5_000]);
  });

  it('with reserved units report the usage in every response to one client', async () => {
    await using nodes = await Nodes.start(1, [
      '--rate-limit-redis-reserve',
      '20',
      '--rate-limit-services',
      '{"ratelimit":{"secondary":"none"}}',
    ]);
    const [node] = nodes.all;
    for (let used = 1; used <= 100; used += 1) {
      const response = await node?.http.send(PROBE);
      assert.equal(response && bucketOf(response), `core ${used}+${5_000 - used}/5000`);
    }
  });

  it('each node counted wrong logins of an address for itself', async () => {
    const prefix = `test:${randomUUID()}:`;
    const flags = ['--services', 'ratelimit', ...redisFlags(prefix)];
    await using one = await ServerInProcess.start({ flags });
    await using other = await ServerInProcess.start({ flags });
    const headers = { authorization: 'Bearer ghp_nobodyhasthistokennobodyhasthistok00' };
    const guess = async (node: ServerInProcess) =>
      (await node.http.send('/rate_limit', { headers })).status;
    for (let count = 0; count < 25; count += 1) {
      assert.deepEqual([await guess(one), await guess(other)], [401, 401]);
    }
    // The 51st guess locks the address on any node; the other node applies the lock at its next call.
    assert.equal(await guess(one), 401);
    for (const node of [one, other]) {
      let status = 401;
      for (let left = 20; left > 0 && status === 401; left -= 1) status = await guess(node);
      assert.equal(status, 403);
    }
  });

  it('each node counted wrong tokens of editors of game data for itself', async () => {
    const services = ['--services', 'gamedata,ratelimit'];
    const flags = [...services, ...redisFlags(`test:${randomUUID()}:`)];
    await using one = await ServerInProcess.start({ flags });
    await using other = await ServerInProcess.start({ flags });
    const headers = { authorization: 'Bearer no-editor-has-this-one' };
    const guess = async (node: ServerInProcess) =>
      (await node.http.send('/api/editor/items', { headers })).status;
    for (let count = 0; count < 4; count += 1) {
      assert.deepEqual([await guess(one), await guess(other)], [401, 401]);
    }
    assert.deepEqual([await guess(one), await guess(other)], [401, 401]);
    // The tenth guess locks the address on any node; the other node applies the lock at its next call.
    for (const node of [one, other]) {
      let status = 401;
      for (let left = 3; left > 0 && status === 401; left -= 1) status = await guess(node);
      assert.equal(status, 429);
    }
  });

  it('each node counted wrong passwords of a user for itself', async () => {
    const services = ['--services', 'tsdb,ratelimit'];
    const flags = [...services, ...redisFlags(`test:${randomUUID()}:`)];
    await using one = await ServerInProcess.start({ flags });
    await using other = await ServerInProcess.start({ flags });
    for (const node of [one, other]) {
      const made = await node.http.send('/api/v3/configure/token/admin', { method: 'POST' });
      const headers = { authorization: `Bearer ${JSON.parse(made.text).token}` };
      const q = encodeURIComponent("CREATE USER ida WITH PASSWORD 'i'");
      const { status } = await node.http.send(`/query?q=${q}`, { method: 'POST', headers });
      assert.equal(status, 200);
    }
    const guess = async (node: ServerInProcess, user = 'ida') =>
      (await node.http.send(`/query?q=SHOW+DATABASES&u=${user}&p=${randomUUID()}`)).status;
    for (let count = 0; count < 10; count += 1) {
      assert.deepEqual([await guess(one), await guess(other)], [401, 401]);
    }
    // The twentieth guess locks the address on any node; the other node applies the lock at its next call.
    for (const node of [one, other]) {
      let status = 401;
      for (let left = 3; left > 0 && status === 401; left -= 1) status = await guess(node);
      assert.equal(status, 429);
    }
    assert.equal(await guess(other, 'hal'), 401);
  });

  it('give a 304 back, keep windows over a restart, and free the slots of ended requests', async () => {
    const prefix = `test:${randomUUID()}:`;
    const flags = [...redisFlags(prefix), '--rate-limit-secondary-concurrency', '1'];
    const platform = await Platform.start(flags);
    const { dataDir } = platform.server;
    try {
      const token = await platform.token({ kind: 'personal', identity: 'user:1' });
      for (let used = 1; used <= 3; used += 1) {
        const response = await platform.send(PROBE, token);
        assert.equal(bucketOf(response), `core ${used}+${5_000 - used}/5000`);
      }
      const headers = { authorization: token, 'if-none-match': '*' };
      for (let index = 0; index < 3; index += 1) {
        const fresh = await platform.server.http.send(PROBE, { headers });
        assert.equal(fresh.status, 304);
        assert.equal(bucketOf(fresh), 'core 3+4997/5000');
      }
      await platform.server.stop();
      await using again = await Platform.start(flags, { dataDir, admin: platform.admin });
      assert.equal(bucketOf(await again.send(PROBE, token)), 'core 4+4996/5000');
    } finally {
      await platform.server.close();
    }
  });
});

/** A Redis URL on which no server listens. */
const NOWHERE = ['--rate-limit-store', 'redis', '--rate-limit-redis-url', 'redis://127.0.0.1:1'];

describe('while Redis is unavailable', () => {
  it('a node counts separately', async () => {
    await using platform = await Platform.start(NOWHERE);
    for (let used = 1; used <= 8; used += 1) {
      assert.equal(bucketOf(await platform.send(PROBE)), `core ${used}+${60 - used}/60`);
    }
    assert.match(platform.server.logText, /"redis is unavailable"/);
  });

  it('a node with `open` admits everything without headers', async () => {
    await using platform = await Platform.start([
      ...NOWHERE,
      '--rate-limit-on-store-error',
      'open',
    ]);
    for (let index = 0; index < 70; index += 1) {
      const response = await platform.send(PROBE);
      assert.equal(response.status, 200);
      assert.equal(response.headers['x-ratelimit-limit'], undefined);
    }
    assert.equal((await platform.send('/rate_limit')).status, 200);
  });

  it('a node with `closed` returns 503', async () => {
    await using platform = await Platform.start([
      ...NOWHERE,
      '--rate-limit-on-store-error',
      'closed',
    ]);
    for (let index = 0; index < 8; index += 1) {
      const response = await platform.send(PROBE);
      assert.equal(response.status, 503);
      assert.equal(response.headers['retry-after'], '5');
      assert.equal(JSON.parse(response.text).message, 'Service unavailable');
    }
  });
});
