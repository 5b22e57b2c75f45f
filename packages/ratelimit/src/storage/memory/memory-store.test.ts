import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { DEFAULT_RULES } from '../../model/limit-store.js';
import {
  limitStoreContract,
  newCaller,
  newPlan,
  RESOURCES,
} from '../../testing/limit-store-contract.js';
import { MemoryStore } from './memory-store.js';

limitStoreContract('MemoryStore', async (rules) => {
  const clock = new ManualClock();
  const store = new MemoryStore({ clock, rules });
  await store.start();
  return {
    store,
    advance: (ms) => clock.advanceMs(ms),
    nowMs: () => clock.monotonicMs(),
    [Symbol.asyncDispose]: () => store.close(),
  };
});

describe('MemoryStore', () => {
  const core = RESOURCES.need('core');

  it('keeps reset times when the wall clock steps back, up to the length of a window', () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock });
    const caller = newCaller();
    const { resetSec } = store.admit(caller, newPlan());
    clock.stepWallMs(-10_000);
    const shortly = store.admit(caller, newPlan());
    assert.equal(shortly.used, 2);
    assert.equal(shortly.resetSec, resetSec - 10);
    clock.stepWallMs(-86_400_000);
    const later = store.admit(caller, newPlan());
    assert.equal(later.used, 3);
    assert.equal(later.resetSec, Math.floor(clock.nowMs() / 1000) + 3_600);
  });

  it('keeps points when the wall clock steps back', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock, rules: { ...DEFAULT_RULES, pointsRest: 2 } });
    const caller = newCaller();
    const passes = () => store.admit(caller, newPlan()).isAllowed;
    assert.deepEqual([passes(), passes(), passes()], [true, true, false]);
    clock.stepWallMs(-3_600_000);
    assert.equal(passes(), false);
    await clock.advanceMs(61_000);
    assert.equal(passes(), true);
  });

  it('returns a retry time of at most the limit window of one minute', async () => {
    for (let ms = 0; ms < 1000; ms += 111) {
      const clock = new ManualClock();
      await clock.advanceMs(ms);
      const store = new MemoryStore({ clock, rules: { ...DEFAULT_RULES, pointsRest: 1 } });
      const caller = newCaller();
      assert.equal(store.admit(caller, newPlan()).isAllowed, true);
      const { limitedBy, retryAfterSec } = store.admit(caller, newPlan());
      assert.equal(limitedBy, 'points_rest');
      assert.ok(retryAfterSec >= 59 && retryAfterSec <= 60, `${retryAfterSec} s at ${ms} ms`);
    }
  });

  it('allows 900 reads in every minute, at the edges of seconds as well', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock });
    const caller = newCaller(new Map([['core', 'exempt']]));
    const passed: number[] = [];
    for (let ms = 0; ms < 150_000; ms += 50) {
      const admission = store.admit(caller, newPlan());
      store.finish(admission);
      if (admission.isAllowed) passed.push(ms);
      await clock.advanceMs(50);
    }
    let first = 0;
    for (const [index, ms] of passed.entries()) {
      while (ms - (passed[first] ?? 0) >= 60_000) first += 1;
      assert.ok(index - first + 1 <= 900, `at ${ms}`);
    }
    assert.equal(passed.filter((ms) => ms < 60_000).length, 900);
  });

  it('charges a long request while it runs, and releases its slot after ten minutes', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock, rules: { ...DEFAULT_RULES, concurrency: 1 } });
    await store.start();
    const caller = newCaller();
    const running = store.admit(caller, newPlan());
    let charged = 0;
    store.watchRunning(running, () => {
      charged += 1;
    });
    await clock.advanceMs(5_000);
    assert.ok(charged >= 4, String(charged));
    assert.equal(store.admit(caller, newPlan()).limitedBy, 'concurrency');
    await clock.advanceMs(600_000);
    assert.equal(store.admit(caller, newPlan()).isAllowed, true);
    store.finish(running);
    assert.equal(store.stats.inFlightCount, 1);
    await store.close();
  });

  it('removes idle identities automatically', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock });
    await store.start();
    for (let index = 0; index < 500; index += 1) {
      store.finish(store.admit(newCaller(), newPlan()));
    }
    assert.equal(store.stats.bucketCount, 500);
    await clock.advanceMs(3_700_000);
    assert.equal(store.stats.bucketCount, 0);
    await store.close();
  });

  it('stays within its bound in a flood of addresses, and keeps authenticated identities', () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock, maxIdentityCount: 1_000 });
    const users = Array.from({ length: 100 }, () => newCaller());
    for (const user of users) store.finish(store.admit(user, newPlan()));
    for (let index = 0; index < 20_000; index += 1) {
      const caller = { ...newCaller(), key: `ip:10.0.${index >> 8}.${index & 255}` };
      store.finish(store.admit(caller, newPlan()));
    }
    assert.ok(store.stats.bucketCount <= 1_000);
    const kept = users.filter(({ key }) => store.usage(key, [core])[0]?.used === 1);
    assert.ok(kept.length >= 90, String(kept.length));
  });

  it('counts further endpoints together when an identity uses too many', () => {
    const store = new MemoryStore({ clock: new ManualClock() });
    const caller = newCaller(new Map([['core', 'exempt']]));
    const passes = (endpoint: string) => {
      const admission = store.admit(caller, newPlan({ endpoint }));
      store.finish(admission);
      return admission.isAllowed;
    };
    let passed = 0;
    for (let index = 0; index < 3_000; index += 1) if (passes(`/e${index}`)) passed += 1;
    // The first endpoint, 1,000 with their own points, and 900 requests shared by all others.
    assert.equal(passed, 1 + 1_000 + 900);
    assert.equal(passes('/e5'), true);
  });

  it('persists counters and restores them', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore({ clock });
    store.cachedIdentities.trackChanges();
    const caller = newCaller();
    const plan = newPlan({ content: true });
    store.finish(store.admit(caller, plan));
    store.finish(store.admit(caller, newPlan({ resource: 'slow' })));
    store.ban(caller.key, 60);
    const kept = store.cachedIdentities.takeChanged(10);
    assert.equal(kept.length, 1);
    assert.equal(store.cachedIdentities.takeChanged(10).length, 0);
    const next = new MemoryStore({ clock });
    for (const each of kept) next.cachedIdentities.restore(each);
    assert.deepEqual(next.usage(caller.key, RESOURCES.all), store.usage(caller.key, RESOURCES.all));
    assert.equal(next.secondaryUsage(caller.key).content_hour, 1);
    assert.equal(next.admit(caller, plan).limitedBy, 'ban');
    await clock.advanceMs(3_700_000);
    const late = new MemoryStore({ clock });
    for (const each of kept) late.cachedIdentities.restore(each);
    assert.equal(late.stats.bucketCount, 0);
  });

  it('bounds the number of identities waiting to be persisted', () => {
    const store = new MemoryStore({ clock: new ManualClock(), maxIdentityCount: 3 });
    store.cachedIdentities.trackChanges();
    for (let index = 0; index < 10; index += 1) store.finish(store.admit(newCaller(), newPlan()));
    assert.equal(store.cachedIdentities.takeChanged(100).length, 3);
    const late = newCaller();
    store.finish(store.admit(late, newPlan()));
    assert.deepEqual(
      store.cachedIdentities.takeChanged(100).map(({ key }) => key),
      [late.key],
    );
  });
});
