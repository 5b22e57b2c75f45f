import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock, SystemRandom } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import type { Caller } from '../../model/caller.js';
import { DEFAULT_RULES, type LimitRules } from '../../model/limit-store.js';
import { makePlan, type Plan } from '../../model/plan.js';
import {
  limitStoreContract,
  newCaller,
  newPlan,
  RESOURCES,
} from '../../testing/limit-store-contract.js';
import { RedisStore } from './redis-store.js';

const url = process.env['PLINTH_TEST_REDIS_URL'] ?? '';
const skip = url === '' && 'PLINTH_TEST_REDIS_URL names no Redis';

const clock = new SystemClock();
const random = new SystemRandom(clock);
/** On a busy machine, connecting may take longer than the server waits at startup. */
async function startWhole(store: RedisStore): Promise<void> {
  await store.start();
  const isThere = () =>
    store.usage('user:0', []).then(
      () => true,
      () => false,
    );
  for (let round = 0; round < 200 && !(await isThere()); round += 1) await sleep(50);
}

const newPrefix = (): string => `test:${random.uuidV4()}:`;

/** Rules under which only the primary limit refuses. */
const UNBOUND: LimitRules = {
  ...{ ...DEFAULT_RULES, concurrency: 100_000, pointsRest: 100_000 },
  isBanEnabled: false,
};

async function openStore(
  rules: LimitRules = DEFAULT_RULES,
  { reserve = 0, prefix = newPrefix() } = {},
): Promise<RedisStore> {
  const store = new RedisStore({ url, clock, random, rules, prefix, reserve, timeoutMs: 5_000 });
  await startWhole(store);
  return store;
}

for (const reserve of [0, 10]) {
  limitStoreContract(
    `RedisStore with ${reserve} reserved units`,
    async (rules) => {
      const store = await openStore(rules, { reserve });
      return {
        store,
        // Slightly longer in real time, so that no test runs exactly at a boundary.
        advance: async (ms) => void (await sleep(ms + 5)),
        nowMs: () => performance.now(),
        [Symbol.asyncDispose]: () => store.close(),
      };
    },
    { skip },
  );
}

describe('RedisStore', { skip }, () => {
  it('reloads its scripts after Redis has lost them', async () => {
    const { Redis } = await import('ioredis');
    const store = await openStore();
    const caller = newCaller();
    assert.equal((await store.admit(caller, newPlan())).used, 1);
    const other = new Redis(url);
    await other.script('FLUSH');
    other.disconnect();
    assert.equal((await store.admit(caller, newPlan())).used, 2);
    await store.close();
  });

  it('releases slots of a killed node, and keeps those of a live one', {
    timeout: 90_000,
  }, async () => {
    const prefix = newPrefix();
    const rules = { ...DEFAULT_RULES, concurrency: 2 };
    const caller = newCaller();
    // Simulates a killed process, which sends no heartbeats.
    const mute = new ManualClock();
    const killed = new RedisStore({ url, clock: mute, random, rules, prefix, timeoutMs: 5_000 });
    await startWhole(killed);
    const live = await openStore(rules, { prefix });
    assert.ok((await live.admit(caller, newPlan())).isAllowed);
    assert.ok((await killed.admit(caller, newPlan())).isAllowed);
    const killedMs = performance.now();
    assert.equal((await live.admit(caller, newPlan())).limitedBy, 'concurrency');
    for (;;) {
      const admission = await live.admit(caller, newPlan());
      if (admission.isAllowed) break;
      assert.ok(performance.now() - killedMs < 15_000, 'the slot did not come back within 15 s');
      await sleep(200);
    }
    // All slots belong to the live node and outlast an abandoned slot.
    await sleep(14_000);
    assert.equal((await live.admit(caller, newPlan())).limitedBy, 'concurrency');
    await live.close();
    await killed.close();
  });

  it('decides combined requests like separate ones', async () => {
    const resource = RESOURCES.need('core');
    const planOf = (units: number): Plan =>
      makePlan({
        resource,
        endpoint: '/a',
        method: 'GET',
        cost: { cost: units },
        secondary: 'none',
      });
    const store = await openStore();
    const overrides = new Map([['core', { limit: 11, windowSec: 3_600 }]]);
    const callers = Array.from({ length: 20 }, () => newCaller(overrides));
    const asked = Array.from({ length: 200 }, (_, i) =>
      store.admit(callers[i % callers.length] as Caller, planOf(i < 100 ? 1 : 2)),
    );
    const decided = (await Promise.all(asked)).map(({ isAllowed, used }) => [isAllowed, used]);
    // Five units of the first, three of the second, and two refusals, for each caller in request
    // order.
    const sums = [1, 2, 3, 4, 5, 7, 9, 11].map((used) => [true, used]);
    const expected = [...sums, [false, 11], [false, 11]];
    assert.deepEqual(
      decided,
      expected.flatMap((one) => callers.map(() => one)),
    );
    await store.close();
  });

  it('limits the failure of one combined request to that request', async () => {
    const { Redis } = await import('ioredis');
    const prefix = newPrefix();
    const store = await openStore(DEFAULT_RULES, { prefix });
    const resource = RESOURCES.need('core');
    const plan = makePlan({ resource, endpoint: '/a', method: 'GET', cost: {}, secondary: 'none' });
    const [before, broken, after] = [newCaller(), newCaller(), newCaller()];
    const other = new Redis(url);
    await other.lpush(`${prefix}{${broken.key}}:p:core`, 'no counter');
    const responses = await Promise.allSettled(
      [before, broken, after].map(async (caller) => (await store.admit(caller, plan)).used),
    );
    assert.deepEqual(
      responses.map((response) => (response.status === 'fulfilled' ? response.value : 'failed')),
      [1, 'failed', 1],
    );
    await other.del(`${prefix}{${broken.key}}:p:core`);
    other.disconnect();
    await store.close();
  });

  it('counts nodes and bans by the Redis clock, and keeps the node count after Redis lost its keys', async () => {
    const { Redis } = await import('ioredis');
    const prefix = newPrefix();
    const other = new Redis(url);
    // One day apart from each other and from Redis.
    const clocks = [-86_400_000, 86_400_000].map((offMs) => new ManualClock(Date.now() + offMs));
    const stores = clocks.map(
      (own) => new RedisStore({ url, clock: own, random, prefix, timeoutMs: 5_000 }),
    );
    await Promise.all(stores.map(startWhole));
    const [one, two] = stores as [RedisStore, RedisStore];
    const passUntil = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
      for (let round = 0; round < 500 && !(await isSo()); round += 1) {
        await Promise.all(clocks.map((own) => own.advanceMs(1_000)));
        await sleep(5);
      }
      assert.ok(await isSo());
    };
    await passUntil(() => one.nodeCount === 2 && two.nodeCount === 2);
    await other.del(`${prefix}nodes`);
    await two.close();
    await passUntil(async () => (await other.zcard(`${prefix}nodes`)) === 1);
    assert.equal(one.nodeCount, 2);
    await passUntil(() => one.nodeCount === 1);
    const { key } = newCaller();
    await one.ban(key, 60);
    assert.equal((await one.banOf(key))?.level, 1);
    assert.deepEqual(
      (await one.bans(10)).map(({ identity }) => identity),
      [key],
    );
    other.disconnect();
    await one.close();
  });

  it('does not treat a burst as an outage', async () => {
    const prefix = newPrefix();
    const store = new RedisStore({ url, clock, random, rules: UNBOUND, prefix, timeoutMs: 100 });
    await startWhole(store);
    const caller = newCaller(new Map([['core', { limit: 5_000, windowSec: 3_600 }]]));
    const decided = await Promise.all(
      Array.from({ length: 6_000 }, async () => await store.admit(caller, newPlan())),
    );
    const used = decided.filter(({ isAllowed }) => isAllowed).map((admission) => admission.used);
    assert.deepEqual(
      used.sort((a, b) => a - b),
      Array.from({ length: 5_000 }, (_, index) => index + 1),
    );
    assert.equal(store.stats.errorCount, 0);
    await store.close();
  });

  it('reports a ban caused by earlier refusals, although the request passes', async () => {
    const bans: string[] = [];
    const store = new RedisStore({
      ...{ url, clock, random, prefix: newPrefix(), timeoutMs: 5_000 },
      rules: { ...DEFAULT_RULES, banThreshold: 20 },
      onBan: ({ identity }) => bans.push(identity),
    });
    await startWhole(store);
    const caller = newCaller(new Map([['core', { limit: 1, windowSec: 1 }]]));
    for (let count = 0; count < 50; count++) await store.admit(caller, newPlan());
    await sleep(1_100);
    assert.equal((await store.admit(caller, newPlan())).isAllowed, true);
    assert.equal((await store.admit(caller, newPlan())).limitedBy, 'ban');
    assert.deepEqual(bans, [caller.key]);
    assert.deepEqual(
      (await store.bans(10)).map(({ identity }) => identity),
      [caller.key],
    );
    await store.close();
  });

  it('puts all keys of an identity into one cluster slot, each with an expiry', async () => {
    const { Redis } = await import('ioredis');
    const prefix = newPrefix();
    const store = await openStore(DEFAULT_RULES, { prefix });
    const caller = newCaller();
    const admission = await store.admit(caller, newPlan({ content: true, heavy: 2 }));
    store.chargeCpu(admission, 5);
    store.releaseSlot(admission);
    const held = await store.admit(caller, newPlan());
    store.finish(admission);
    await sleep(50);
    const other = new Redis(url);
    const keys = await other.keys(`${prefix}*`);
    assert.deepEqual(
      keys.map((key) => key.slice(prefix.length).replace(/:s:.*/, ':s')).sort(),
      ['c', 'ch', 'cm', 'cpu', 'h', 'p:core', 's'].map((part) => `{${caller.key}}:${part}`),
    );
    for (const key of keys) assert.ok((await other.pttl(key)) > 0, key);
    other.disconnect();
    store.finish(held);
    await store.close();
  });

  it('calls Redis once per decision', async () => {
    const { Redis } = await import('ioredis');
    const prefix = newPrefix();
    const store = await openStore(DEFAULT_RULES, { prefix });
    const plan = newPlan({ content: true, heavy: 1 });
    const [first, last] = [newCaller(), newCaller()];
    await store.admit(first, plan);
    const other = new Redis(url);
    const monitor = await other.monitor();
    // Commands sent by clients; commands inside scripts are marked `lua`.
    const asked: string[] = [];
    let isOver = false;
    monitor.on('monitor', (_time: string, args: string[], source: string) => {
      const key = args.find((arg) => arg.startsWith(`${prefix}{`));
      if (source !== 'lua' && key !== undefined) asked.push(`${args[0]} ${key}`);
      isOver ||= key?.includes(`{${last.key}}`) ?? false;
    });
    const callers = Array.from({ length: 10 }, () => newCaller());
    for (const caller of callers) await store.admit(caller, plan);
    await store.admit(last, plan);
    for (let round = 0; round < 500 && !isOver; round += 1) await sleep(10);
    assert.deepEqual(
      asked,
      [...callers, last].map(({ key }) => `evalsha ${prefix}{${key}}:p:core`),
    );
    monitor.disconnect();
    other.disconnect();
    await store.close();
  });
});

describe('RedisStore with reserved units', { skip }, () => {
  /** Only the primary limit applies, since units are reserved only for such plans. */
  const plan: Plan = { ...newPlan(), takesSlot: false, chargesCpu: false, points: 0 };
  const limited = (limit: number): Caller =>
    newCaller(new Map([['core', { limit, windowSec: 3_600 }]]));
  const core = RESOURCES.need('core');
  const admittedOf = async (stores: readonly RedisStore[], caller: Caller, count: number) => {
    const each = Array.from({ length: count }, (_, index) => stores[index % stores.length]);
    const found = await Promise.all(each.map(async (store) => await store?.admit(caller, plan)));
    return found.filter((admission) => admission?.isAllowed).length;
  };

  it('never exceeds the limit, and eventually admits all of it', async () => {
    const prefix = newPrefix();
    const stores = await Promise.all(
      [1, 2, 3].map(() => openStore(DEFAULT_RULES, { reserve: 20, prefix })),
    );
    const caller = limited(500);
    let admitted = 0;
    for (let round = 0; round < 12; round += 1) admitted += await admittedOf(stores, caller, 60);
    assert.ok(admitted <= 500 && admitted >= 500 - 3 * 20, String(admitted));
    // Idle units of one node are refunded.
    for (let waited = 0; admitted < 500 && waited < 6; waited += 1) {
      await sleep(1_100);
      admitted += await admittedOf(stores, caller, 60);
    }
    assert.equal(admitted, 500);
    assert.equal(await admittedOf(stores, caller, 60), 0);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('rarely calls Redis, counts correctly, and reserves at most four fifths of the limit', async () => {
    const store = await openStore(DEFAULT_RULES, { reserve: 50 });
    const caller = limited(1_000);
    let atOnceCount = 0;
    for (let used = 1; used <= 1_000; used += 1) {
      const found = store.admit(caller, plan);
      if (!(found instanceof Promise)) atOnceCount += 1;
      const admission = await found;
      store.finish(admission);
      assert.deepEqual([admission.isAllowed, admission.used], [true, used]);
      if (used === 500) assert.equal((await store.usage(caller.key, [core]))[0]?.used, 500);
    }
    assert.ok(atOnceCount > 700 && atOnceCount <= 800, String(atOnceCount));
    const refused = await store.admit(caller, plan);
    assert.deepEqual([refused.limitedBy, refused.used], ['primary', 1_000]);
    await store.close();
  });

  it('refunds reserved units when it closes, and the cost of refunded requests', async () => {
    const prefix = newPrefix();
    const store = await openStore(DEFAULT_RULES, { reserve: 50, prefix });
    const other = await openStore(DEFAULT_RULES, { prefix });
    const caller = limited(1_000);
    for (let index = 0; index < 10; index += 1) {
      const admission = await store.admit(caller, plan);
      if (index % 2 === 0) store.refund(admission);
      store.finish(admission);
    }
    assert.equal((await store.usage(caller.key, [core]))[0]?.used, 5);
    assert.ok(((await other.usage(caller.key, [core]))[0]?.used ?? 0) > 5);
    await store.close();
    assert.equal((await other.usage(caller.key, [core]))[0]?.used, 5);
    await other.close();
  });

  it("applies a credential's own limit in a bucket shared with another one", async () => {
    const store = await openStore(DEFAULT_RULES, { reserve: 50 });
    const wide = limited(1_000);
    const narrow: Caller = { ...limited(30), key: wide.key };
    for (let index = 0; index < 20; index += 1) store.finish(await store.admit(wide, plan));
    assert.equal(await admittedOf([store], narrow, 40), 10);
    assert.equal((await store.admit(wide, plan)).used, 31);
    await store.close();
  });

  it('drops reserved units of an identity that is reset or banned', async () => {
    const store = await openStore(DEFAULT_RULES, { reserve: 50 });
    const caller = limited(1_000);
    for (let index = 0; index < 20; index += 1) store.finish(await store.admit(caller, plan));
    await store.reset(caller.key, RESOURCES.all);
    assert.equal((await store.admit(caller, plan)).used, 1);
    for (let index = 0; index < 20; index += 1) store.finish(await store.admit(caller, plan));
    await store.ban(caller.key, 60);
    assert.equal((await store.admit(caller, plan)).limitedBy, 'ban');
    await store.close();
  });
});
