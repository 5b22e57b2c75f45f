import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { SystemClock, SystemRandom } from '@plinth/kernel';
import { DEFAULT_RULES } from '../model/limit-store.js';
import { UNLIMITED } from '../model/resource.js';
import { newCaller, newPlan } from '../testing/limit-store-contract.js';
import { GuardedStore, type OnStoreError } from './guarded-store.js';
import { RedisStore } from './redis/redis-store.js';

/** A server that accepts connections and never responds, like a hanging Redis. */
async function openSilence(): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function openStore(url: string, mode: OnStoreError, timeoutMs = 50) {
  const clock = new SystemClock();
  const random = new SystemRandom(clock);
  const shared = new RedisStore({ url, clock, random, timeoutMs, prefix: 'test:guarded:' });
  const changes: boolean[] = [];
  const store = new GuardedStore({
    shared,
    mode,
    clock,
    rules: DEFAULT_RULES,
    maxIdentityCount: 1_000,
    onChange: (isReachable) => changes.push(isReachable),
  });
  await store.start();
  return { store, changes };
}

const NOBODY = 'redis://127.0.0.1:1';

describe('GuardedStore without Redis', () => {
  it('counts in this process', async () => {
    const { store, changes } = await openStore(NOBODY, 'local');
    const caller = newCaller(new Map([['core', { limit: 3, windowSec: 60 }]]));
    const passed: boolean[] = [];
    for (let index = 0; index < 8; index += 1) {
      const admission = await store.admit(caller, newPlan());
      passed.push(admission.isAllowed);
      store.finish(admission);
    }
    assert.deepEqual(passed, [true, true, true, false, false, false, false, false]);
    assert.deepEqual(changes, [false]);
    assert.ok(store.stats.errorCount >= 5);
    assert.equal(store.stats.inFlightCount, 0);
    await store.close();
  });

  it('allows all requests and shows no bucket', async () => {
    const { store } = await openStore(NOBODY, 'open');
    const caller = newCaller(new Map([['core', { limit: 1, windowSec: 60 }]]));
    for (let index = 0; index < 8; index += 1) {
      const admission = await store.admit(caller, newPlan());
      assert.deepEqual([admission.isAllowed, admission.limit], [true, UNLIMITED]);
      store.finish(admission);
    }
    await store.close();
  });

  it('rejects all requests', async () => {
    const { store } = await openStore(NOBODY, 'closed');
    for (let index = 0; index < 8; index += 1) {
      await assert.rejects(async () => await store.admit(newCaller(), newPlan()), {
        kind: 'store_unavailable',
      });
    }
    await store.close();
  });

  it('waits at most the timeout for a hanging server, and not at all after several timeouts', async () => {
    await using silence = await openSilence();
    const { store } = await openStore(silence.url, 'local');
    for (let index = 0; index < 5; index += 1) {
      const startMs = performance.now();
      assert.equal((await store.admit(newCaller(), newPlan())).isAllowed, true);
      assert.ok(performance.now() - startMs < 500);
    }
    const startMs = performance.now();
    assert.ok(!(store.admit(newCaller(), newPlan()) instanceof Promise));
    assert.ok(performance.now() - startMs < 20);
    await store.close();
  });
});

const url = process.env['PLINTH_TEST_REDIS_URL'] ?? '';

describe('GuardedStore with Redis', {
  skip: url === '' && 'PLINTH_TEST_REDIS_URL names no Redis',
}, () => {
  it('limits an identity with unreadable keys locally, and no others', async () => {
    const { Redis } = await import('ioredis');
    const { store, changes } = await openStore(url, 'local', 5_000);
    const overrides = new Map([['core', { limit: 3, windowSec: 60 }]]);
    const [broken, whole] = [newCaller(overrides), newCaller(overrides)];
    const other = new Redis(url);
    await other.set(`test:guarded:{${broken.key}}:p:core`, 'no number', 'PX', 60_000);
    const passed = { broken: 0, whole: 0 };
    for (let index = 0; index < 20; index += 1) {
      if ((await store.admit(broken, newPlan())).isAllowed) passed.broken += 1;
      if ((await store.admit(whole, newPlan())).isAllowed) passed.whole += 1;
    }
    assert.deepEqual(passed, { broken: 3, whole: 3 });
    // Counted in Redis throughout.
    assert.equal(await other.get(`test:guarded:{${whole.key}}:p:core`), '3');
    assert.deepEqual(changes, []);
    await other.del(`test:guarded:{${broken.key}}:p:core`);
    other.disconnect();
    await store.close();
  });
});
