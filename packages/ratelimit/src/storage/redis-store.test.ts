import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock, SystemRandom } from '@plinth/kernel';
import { DEFAULT_RULES, type LimitRules } from '../model/limit-store.js';
import { limitStoreContract, newCaller, newPlan } from '../testing/limit-store-contract.js';
import { RedisStore } from './redis-store.js';

const url = process.env['PLINTH_TEST_REDIS_URL'] ?? '';
const skip = url === '' && 'PLINTH_TEST_REDIS_URL names no Redis';

async function openStore(rules: LimitRules = DEFAULT_RULES): Promise<RedisStore> {
  const clock = new SystemClock();
  const random = new SystemRandom(clock);
  const prefix = `test:${random.uuidV4()}:`;
  const store = new RedisStore({ url, clock, random, rules, prefix, timeoutMs: 5_000 });
  await store.start();
  return store;
}

limitStoreContract(
  'RedisStore',
  async (rules) => {
    const store = await openStore(rules);
    return {
      store,
      // Real time: a little more than was asked for, so that no test stands at an edge.
      advance: async (ms) => void (await sleep(ms + 5)),
      [Symbol.asyncDispose]: () => store.close(),
    };
  },
  { skip },
);

describe('RedisStore', { skip }, () => {
  it('loads its scripts again after Redis has forgotten them', async () => {
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

  it('puts all keys of an identity into one slot of a cluster and lets each of them end', async () => {
    const { Redis } = await import('ioredis');
    const clock = new SystemClock();
    const random = new SystemRandom(clock);
    const prefix = `test:${random.uuidV4()}:`;
    const store = new RedisStore({ url, clock, random, prefix, timeoutMs: 5_000 });
    await store.start();
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

  it('asks Redis once per decision', async () => {
    const { Redis } = await import('ioredis');
    const store = await openStore();
    const plan = newPlan({ content: true, heavy: 1 });
    await store.admit(newCaller(), plan);
    const other = new Redis(url);
    const callCount = async () => {
      const info = await other.info('commandstats');
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0);
    };
    const before = await callCount();
    for (let index = 0; index < 10; index += 1) await store.admit(newCaller(), plan);
    const after = await callCount();
    // Other tests may run beside this one, so only too few can be told from too many here.
    assert.ok(after - before >= 10);
    other.disconnect();
    await store.close();
  });
});
