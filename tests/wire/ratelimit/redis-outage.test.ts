// Source: rate-limits, sections 2, 14.2 and 14.3.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Http2Client, ServerInProcess } from '../../harness/index.js';
import { eventually, noOwnRedis, OwnRedis } from './own-redis.js';
import { bucketOf, Platform, PROBE } from './platform.js';

interface Shown {
  readonly buckets: { readonly core: { readonly used: number } };
  readonly secondary: { readonly concurrency: number };
}

const shown = async (platform: Platform, identity: string): Promise<Shown> =>
  JSON.parse((await platform.ops('GET', `rate-limits/${identity}`)).text) as Shown;

describe('a Redis that is suspended for a while', { skip: noOwnRedis }, () => {
  it('keeps no slot for a client that disconnected during the call', async () => {
    await using redis = await OwnRedis.start();
    await using platform = await Platform.start(redis.flags(30_000));
    const authorization = await platform.token({ kind: 'personal', identity: 'user:1' });
    assert.equal(bucketOf(await platform.send(PROBE, authorization)), 'core 1+4999/5000');
    redis.signal('SIGSTOP');
    const { hostname, port } = new URL(platform.server.url);
    const sockets = Array.from({ length: 10 }, () => {
      const socket = connect(Number(port), hostname);
      socket.write(`GET ${PROBE} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`);
      return socket;
    });
    await sleep(500);
    for (const socket of sockets) socket.destroy();
    await sleep(200);
    redis.signal('SIGCONT');
    await eventually(async () => (await shown(platform, 'user:1')).buckets.core.used === 11);
    await eventually(async () => (await shown(platform, 'user:1')).secondary.concurrency === 0);
  });

  it('refunds decisions that arrive after the timeout', async () => {
    await using redis = await OwnRedis.start();
    await using platform = await Platform.start(redis.flags(1000));
    const authorization = await platform.token({ kind: 'personal', identity: 'user:1' });
    assert.equal(bucketOf(await platform.send(PROBE, authorization)), 'core 1+4999/5000');
    redis.signal('SIGSTOP');
    // The node decides itself and starts counting now.
    const sent = Array.from({ length: 20 }, () => platform.send(PROBE, authorization));
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
    redis.signal('SIGCONT');
    await eventually(async () => {
      const { buckets, secondary } = await shown(platform, 'user:1');
      return buckets.core.used === 1 && secondary.concurrency === 0;
    });
    assert.equal(bucketOf(await platform.send(PROBE, authorization)), 'core 2+4998/5000');
    assert.match(platform.server.logText, /"redis is available again"/);
  });
});

it('three nodes on a cluster of three count every identity together', {
  skip: noOwnRedis,
}, async () => {
  await using redis = await OwnRedis.start(3);
  // Each node requests the complete limit, because reserved units could be left over otherwise.
  const each = 30;
  // The timeout is long, because on a busy machine a node would otherwise count separately.
  const about = ['--without-auth', '--services', 'ratelimit', ...redis.flags(60_000)];
  const flags = [...about, '--rate-limit-resources', `{"core":{"limit":${each}}}`];
  const nodes = await Promise.all(redis.ports.map(() => ServerInProcess.start({ flags })));
  try {
    // Without established connections, a node would start to count separately.
    for (const node of nodes) {
      for (let index = 0; index < 8; index++) {
        const path = `/ops/v1/rate-limits/user:${index}`;
        await eventually(async () => (await node.http.send(path)).status === 200);
      }
    }
    const counts = new Map<string, number>();
    await Promise.all(
      nodes.map(async (node) => {
        await using client = new Http2Client(node.url);
        const sent = Array.from({ length: 8 * each }, async (_, index) => {
          const identity = `user:${index % 8}`;
          const body = JSON.stringify({ identity });
          const response = await client.send('/ops/v1/rate-limits/check', { body });
          if (JSON.parse(response.text).allowed) {
            counts.set(identity, (counts.get(identity) ?? 0) + 1);
          }
        });
        await Promise.all(sent);
      }),
    );
    assert.deepEqual([...counts.values()], Array(8).fill(each));
    const [node] = nodes;
    const top = await node?.http.send('/ops/v1/rate-limits/top?limit=20');
    assert.equal(JSON.parse(top?.text ?? '').top.length, 8);
    await node?.http.send('/ops/v1/rate-limits/user:3/reset', { method: 'POST' });
    const again = await node?.http.send('/ops/v1/rate-limits/user:3');
    assert.equal(JSON.parse(again?.text ?? '').buckets.core.used, 0);
    for (const { logText } of nodes) assert.doesNotMatch(logText, /redis is unavailable/);
  } finally {
    await Promise.all(nodes.map((one) => one.close()));
  }
});

it('a hanging shard delays only its own identities, and only by one timeout', {
  skip: noOwnRedis,
}, async () => {
  const timeoutMs = 1000;
  await using redis = await OwnRedis.start(3);
  const about = ['--without-auth', '--services', 'ratelimit', ...redis.flags(timeoutMs)];
  await using node = await ServerInProcess.start({ flags: about });
  const check = async (identity: string): Promise<number> => {
    const body = JSON.stringify({ identity });
    const response = await node.http.send('/ops/v1/rate-limits/check', { method: 'POST', body });
    return Number(JSON.parse(response.text).headers['x-ratelimit-used']);
  };
  const identities = Array.from({ length: 24 }, (_, index) => `user:${index}`);
  for (const identity of identities) assert.equal(await check(identity), 1);
  const [hung = 0] = redis.ports;
  const keys = redis.ask(hung, 'KEYS', '*');
  const held = identities.filter((identity) => keys.includes(`{${identity}}`));
  const others = identities.filter((identity) => !held.includes(identity));
  assert.ok(held.length > 5 && others.length > 5, keys);

  redis.signal('SIGSTOP', hung);
  const usedByOthers = new Map(others.map((identity) => [identity, 1]));
  const askOthersUntil = async (isEnough: () => boolean): Promise<void> => {
    while (!isEnough()) {
      for (const identity of others) {
        const used = await check(identity);
        assert.equal(used, (usedByOthers.get(identity) ?? 0) + 1, 'counted in Redis all the time');
        usedByOthers.set(identity, used);
      }
    }
  };
  // Available shards do not affect the timeout of the hanging one.
  for (const identity of held.slice(0, 5)) {
    const startMs = performance.now();
    let used: number | undefined;
    const asked = check(identity).then((found) => {
      used = found;
    });
    await askOthersUntil(() => used !== undefined);
    await asked;
    assert.equal(used, 1, 'counted by the node itself');
    assert.ok(performance.now() - startMs < 10 * timeoutMs);
  }
  // Calls pause for a second after five failures, then one probe per second is sent.
  const startMs = performance.now();
  for (let round = 2; round <= 6; round += 1) {
    for (const identity of held.slice(0, 5)) assert.equal(await check(identity), round);
  }
  assert.ok(performance.now() - startMs < 10 * timeoutMs);
  assert.equal(node.logText.match(/"redis is unavailable"/g)?.length, 1);

  redis.signal('SIGCONT', hung);
  await eventually(async () => {
    await check(held[0] ?? '');
    return /"redis is available again"/.test(node.logText);
  });
  // Charges of the shard after the timeout were refunded.
  const untouched = held[5] ?? '';
  assert.equal(await check(untouched), 2);
});
