import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LimitProfile, RouteCost } from '@plinth/kernel';
import { type Caller, Callers } from '../model/caller.js';
import { DEFAULT_RULES, type LimitRules, type LimitStore } from '../model/limit-store.js';
import { makePlan, makeTokenPlan, type Plan, planOfSeveral } from '../model/plan.js';
import { PrimaryLimitRules } from '../model/primary-limits.js';
import { type Resource, ResourceTable } from '../model/resource.js';

/** Longer than a busy machine needs for two calls, because some stores run in real time. */
const BAN_MS = 1_500;

export const RESOURCES = new ResourceTable({ slow: { limit: 5, window: 3600 } });

/** Short windows, so that tests can wait for their end. */
const SHORT_SEC = 2;
const RULES: LimitRules = { ...DEFAULT_RULES, minuteMs: 1_200, hourMs: 2_400 };

let callerCount = 0;

/** A new identity, so that tests do not affect each other. */
export function newCaller(
  overrides: LimitProfile['overrides'] = new Map(),
  resources = RESOURCES,
): Caller {
  callerCount += 1;
  const profile = { isEnterprise: false, repositoriesCount: 0, usersCount: 0, overrides };
  const key = `user:${process.pid}${Date.now()}${callerCount}`;
  const caller = new Callers(new PrimaryLimitRules(resources)).ofKey(key, profile);
  assert.ok(caller);
  return caller;
}

export function newPlan(
  cost: RouteCost & { readonly method?: string } = {},
  resources = RESOURCES,
): Plan {
  const { method = 'GET', endpoint = '/a', resource: name = 'core', ...rest } = cost;
  const resource = resources.need(name);
  return makePlan({ resource, endpoint, method, cost: rest, secondary: 'all' });
}

export interface OpenedStore extends AsyncDisposable {
  readonly store: LimitStore;
  advance(ms: number): Promise<void>;
  /** Time of the clock that `advance` moves. */
  nowMs(): number;
}

/** Contract of every counter store. `open` returns a new store. */
export function limitStoreContract(
  name: string,
  open: (rules: LimitRules) => Promise<OpenedStore>,
  options: { readonly skip?: string | false } = {},
): void {
  describe(name, { skip: options.skip ?? false }, () => {
    const core = RESOURCES.need('core');
    const limited = (limit: number) => newCaller(new Map([['core', { limit, windowSec: 3_600 }]]));
    const usedOf = async (store: LimitStore, caller: Caller, resource: Resource = core) =>
      (await store.usage(caller.key, [resource]))[0]?.used;

    it('admits exactly the limit, even for concurrent requests', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store } = opened;
      const caller = limited(50);
      const plan = { ...newPlan(), takesSlot: false };
      const found = await Promise.all(
        Array.from({ length: 80 }, async () => await store.admit(caller, plan)),
      );
      assert.equal(found.filter(({ isAllowed }) => isAllowed).length, 50);
      const refused = found.filter(({ isAllowed }) => !isAllowed);
      assert.ok(refused.every(({ limitedBy, used }) => limitedBy === 'primary' && used === 50));
      assert.equal(await usedOf(store, caller), 50);
    });

    it('counts costs, and rejects a cost that does not fit completely', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store } = opened;
      const caller = limited(10);
      const admit = async (cost: number) => {
        const { isAllowed, used } = await store.admit(caller, newPlan({ cost }));
        return [isAllowed, used];
      };
      assert.deepEqual(await admit(7), [true, 7]);
      assert.deepEqual(await admit(4), [false, 7]);
      assert.deepEqual(await admit(3), [true, 10]);
      assert.deepEqual(await admit(0), [true, 10]);
      assert.deepEqual(await admit(1), [false, 10]);
    });

    it('opens a window with the first counted request and a new one after its end', async () => {
      await using opened = await open(RULES);
      const { store, advance } = opened;
      const caller = newCaller(new Map([['core', { limit: 2, windowSec: SHORT_SEC }]]));
      const plan = newPlan();
      assert.equal(await usedOf(store, caller), undefined);
      const first = await store.admit(caller, plan);
      await advance(300);
      const second = await store.admit(caller, plan);
      assert.equal(second.resetSec, first.resetSec);
      assert.equal((await store.admit(caller, plan)).limitedBy, 'primary');
      await advance(SHORT_SEC * 1000 + 50);
      const next = await store.admit(caller, plan);
      assert.deepEqual([next.isAllowed, next.used], [true, 1]);
      assert.ok(next.resetSec >= first.resetSec + SHORT_SEC);
    });

    it('keeps a bucket per resource', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store } = opened;
      const caller = newCaller();
      await store.admit(caller, newPlan());
      await store.admit(caller, newPlan({ resource: 'slow' }));
      await store.admit(caller, newPlan({ resource: 'slow' }));
      const usage = await store.usage(caller.key, [core, RESOURCES.need('slow')]);
      assert.deepEqual(
        usage.map((each) => each?.used),
        [1, 2],
      );
    });

    it('refunds a cost', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store } = opened;
      const caller = newCaller();
      const admission = await store.admit(caller, newPlan());
      store.refund(admission);
      assert.equal(admission.used, 0);
      store.finish(admission);
      assert.equal((await store.admit(caller, newPlan())).used, 1);
    });

    it('takes a slot per running request and releases it once', async () => {
      await using opened = await open({ ...DEFAULT_RULES, concurrency: 3 });
      const { store } = opened;
      const caller = newCaller();
      const admit = async () => await store.admit(caller, newPlan());
      const running = [await admit(), await admit(), await admit()];
      const refused = await admit();
      assert.deepEqual([refused.limitedBy, refused.retryAfterSec], ['concurrency', 5]);
      assert.equal(refused.used, 3);
      for (const admission of running.slice(0, 2)) {
        store.finish(admission);
        store.finish(admission);
      }
      assert.equal((await admit()).isAllowed, true);
      assert.equal((await admit()).isAllowed, true);
      assert.equal((await admit()).isAllowed, false);
    });

    it('adds points per endpoint and forgets them after the window', async () => {
      await using opened = await open({ ...RULES, pointsRest: 10 });
      const { store, advance } = opened;
      const caller = newCaller();
      const admit = async (endpoint: string, method = 'GET') => {
        const admission = await store.admit(caller, newPlan({ endpoint, method }));
        store.finish(admission);
        return admission;
      };
      assert.equal((await admit('/a', 'POST')).isAllowed, true);
      assert.equal((await admit('/a', 'POST')).isAllowed, true);
      const refused = await admit('/a');
      assert.equal(refused.limitedBy, 'points_rest');
      assert.ok(refused.retryAfterSec >= 1 && refused.retryAfterSec <= 2);
      assert.equal(refused.used, 2, 'a refusal charges nothing');
      assert.equal((await admit('/b')).isAllowed, true);
      await advance(1_500);
      assert.equal((await admit('/a')).isAllowed, true);
    });

    it('never admits too many points in any window', async () => {
      await using opened = await open({ ...RULES, pointsRest: 5 });
      const { store, advance } = opened;
      const caller = newCaller();
      const passed: { readonly askedMs: number; readonly toldMs: number }[] = [];
      for (let step = 0; step < 20; step++) {
        const askedMs = opened.nowMs();
        const admission = await store.admit(caller, newPlan());
        const toldMs = opened.nowMs();
        store.finish(admission);
        if (admission.isAllowed) passed.push({ askedMs, toldMs });
        await advance(140);
      }
      // A request passed between its two times, so only requests that are certainly within a window count.
      for (const { askedMs: start } of passed) {
        const within = passed.filter(
          ({ askedMs, toldMs }) => askedMs >= start && toldMs < start + 1_200 - 140,
        );
        assert.ok(within.length <= 5, `${within.length} from ${start}: ${JSON.stringify(passed)}`);
      }
      assert.ok(passed.length >= 8, JSON.stringify(passed));
    });

    it('counts CPU time, content and weights against later requests', async () => {
      await using opened = await open({ ...RULES, contentHour: 3, tokenHour: 3 });
      const { store, advance } = opened;
      const kindOf = async (caller: Caller, cost: RouteCost) => {
        const admission = await store.admit(caller, newPlan(cost));
        store.finish(admission);
        return admission.limitedBy;
      };
      const busy = newCaller();
      const work = await store.admit(busy, newPlan());
      store.chargeCpu(work, 90_000);
      store.finish(work);
      assert.equal(await kindOf(busy, {}), 'cpu');
      await advance(1_500);
      assert.equal(await kindOf(busy, {}), undefined);

      const writer = newCaller();
      for (let index = 0; index < 3; index += 1) {
        assert.equal(await kindOf(writer, { content: true }), undefined);
      }
      assert.equal(await kindOf(writer, { content: true }), 'content_hour');
      const own = newCaller();
      assert.equal(await kindOf(own, { content: true, contentPerMinute: 1 }), undefined);
      assert.equal(await kindOf(own, { content: true, contentPerMinute: 1 }), 'content_minute');
      const app = newCaller();
      const tokenPlan = makeTokenPlan(core);
      for (let index = 0; index < 3; index += 1) {
        assert.ok((await store.admit(app, tokenPlan)).isAllowed, `token ${index}`);
      }
      const oneTooMany = await store.admit(app, tokenPlan);
      assert.equal(oneTooMany.limitedBy, 'token_creation');
      assert.ok(oneTooMany.retryAfterSec >= 1 && oneTooMany.retryAfterSec <= 3_600);
      assert.equal(await kindOf(app, {}), undefined, 'other requests of the app pass');

      const heavy = newCaller();
      assert.equal(await kindOf(heavy, { heavy: 60 }), undefined);
      assert.equal(await kindOf(heavy, { heavy: 60 }), 'heavy');
      assert.equal(await kindOf(heavy, { heavy: 40 }), undefined);
      assert.equal(await kindOf(newCaller(), { heavy: 101 }), 'heavy', 'never fits');
      assert.equal(
        await kindOf(newCaller(), { content: true, contentPerMinute: 0 }),
        'content_minute',
      );
    });

    it('reports the primary limit when a secondary one is exceeded, too', async () => {
      await using opened = await open({ ...DEFAULT_RULES, concurrency: 1 });
      const { store } = opened;
      const caller = limited(1);
      assert.equal((await store.admit(caller, newPlan())).isAllowed, true);
      assert.equal((await store.admit(caller, newPlan())).limitedBy, 'primary');
    });

    it('peeks without charging', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store } = opened;
      const caller = limited(1);
      const plan = newPlan({ content: true });
      assert.equal((await store.peek(caller, plan)).isAllowed, true);
      assert.equal((await store.peek(caller, plan)).used, 0);
      await store.admit(caller, plan);
      assert.equal((await store.peek(caller, plan)).limitedBy, 'primary');
      assert.equal((await store.secondaryUsage(caller.key)).content_minute, 1);
    });

    it('peeks at several requests as if they were sent one after another', async () => {
      await using opened = await open({ ...DEFAULT_RULES, concurrency: 1 });
      const { store } = opened;
      const kindOf = async (cost: RouteCost, count: number) =>
        (await store.peek(limited(5), planOfSeveral(newPlan(cost), count))).limitedBy;
      assert.equal(await kindOf({}, 5), undefined, 'each releases its slot');
      assert.equal(await kindOf({}, 6), 'primary');
      assert.equal(await kindOf({ cost: 0, points: 300 }, 4), 'points_rest');
      assert.equal(await kindOf({ cost: 0, points: 0, content: true }, 80), undefined);
      assert.equal(await kindOf({ cost: 0, points: 0, content: true }, 81), 'content_minute');
      assert.equal(await kindOf({ cost: 0, points: 0, heavy: 40 }, 3), 'heavy');
    });

    it('bans an identity after many refusals, twice as long the second time, and removes bans', async () => {
      await using opened = await open({ ...RULES, banThreshold: 3, banMs: BAN_MS, concurrency: 1 });
      const { store, advance } = opened;
      const caller = newCaller();
      const held = await store.admit(caller, newPlan());
      const provoke = async () => {
        for (let index = 0; index < 3; index += 1) await store.admit(caller, newPlan());
        return await store.banOf(caller.key);
      };
      assert.equal((await provoke())?.level, 1);
      const banned = await store.admit(caller, newPlan());
      assert.equal(banned.limitedBy, 'ban');
      assert.ok([1, 2].includes(banned.retryAfterSec ?? 0), `${banned.retryAfterSec} s`);
      await advance(BAN_MS + 50);
      assert.equal((await provoke())?.level, 2);
      await advance(BAN_MS + 50);
      assert.equal((await store.admit(caller, newPlan())).limitedBy, 'ban');
      assert.ok((await store.bans(1_000)).some(({ identity }) => identity === caller.key));
      store.finish(held);
      assert.equal(await store.unban(caller.key), true);
      assert.equal(await store.unban(caller.key), false);
      assert.equal((await store.admit(caller, newPlan())).isAllowed, true);
    });

    it('bans manually for a given duration', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store, advance } = opened;
      const caller = newCaller();
      await store.ban(caller.key, 2); // longer than one second, which a busy machine may need for the next call
      assert.equal((await store.admit(caller, newPlan())).limitedBy, 'ban');
      await advance(2_050);
      assert.equal((await store.admit(caller, newPlan())).isAllowed, true);
    });

    it('resets usage on request', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store } = opened;
      const caller = limited(1);
      await store.admit(caller, newPlan({ content: true }));
      assert.equal((await store.admit(caller, newPlan())).isAllowed, false);
      await store.reset(caller.key, RESOURCES.all);
      assert.equal(await usedOf(store, caller), undefined);
      assert.equal((await store.secondaryUsage(caller.key)).content_hour, 0);
      assert.equal((await store.admit(caller, newPlan())).isAllowed, true);
    });

    it('lists the identities with the highest usage', async () => {
      await using opened = await open(DEFAULT_RULES);
      const { store } = opened;
      const callers = [newCaller(), newCaller(), newCaller()];
      for (const [index, caller] of callers.entries()) {
        await store.admit(caller, newPlan({ resource: 'slow', cost: index + 1 }));
      }
      const top = await store.top(RESOURCES.need('slow'), 1_000);
      const own = top.filter(({ identity }) => callers.some(({ key }) => key === identity));
      assert.deepEqual(
        own,
        [...callers].reverse().map(({ key }, index) => ({ identity: key, used: 3 - index })),
      );
    });
  });
}
