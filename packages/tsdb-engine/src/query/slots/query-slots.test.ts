import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QuerySlots } from './query-slots.js';

const never = new AbortController();

/** Returns whether a promise has settled after all due callbacks have run. */
async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  const pending = Symbol('pending');
  const later = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([Promise.resolve(promise).catch(() => undefined), later])) !== pending;
}

describe('QuerySlots', () => {
  it('runs one query per slot and queues the others in arrival order', async () => {
    const slots = new QuerySlots(1);
    const first = await slots.acquire(never);
    const second = slots.acquire(never);
    const third = slots.acquire(never);
    assert.equal(await isSettled(second), false);
    assert.equal(slots.waitingCount, 2);
    first.release();
    first.release();
    (await second).release();
    (await third).release();
    assert.equal(slots.runningCount, 0);
  });

  it('does not queue queries of disconnected clients', async () => {
    const slots = new QuerySlots(1);
    const first = await slots.acquire(never);
    const gone = new AbortController();
    gone.abort();
    const taking = slots.acquire(gone);
    assert.equal(slots.waitingCount, 0);
    await assert.rejects(taking, { kind: 'query_cancelled' });
    first.release();
    assert.equal(slots.runningCount, 0);
  });

  it('lends the slot of a query that waits for its client, and returns it in queue order', async () => {
    const slots = new QuerySlots(1);
    const slow = await slots.acquire(never);
    slow.yieldSlot();
    const quick = await slots.acquire(never);
    const back = slow.reacquire();
    assert.ok(back);
    assert.equal(await isSettled(back), false);
    quick.release();
    await back;
    // No other query needs the slot, so the query continues immediately.
    slow.yieldSlot();
    assert.equal(slow.reacquire(), undefined);
    slow.release();
    assert.equal(slots.runningCount, 0);
  });

  it('lends a yielded slot immediately to a waiting query', async () => {
    const slots = new QuerySlots(1);
    const slow = await slots.acquire(never);
    const waiting = slots.acquire(never);
    slow.yieldSlot();
    const quick = await waiting;
    slow.release();
    quick.release();
    const again = await slots.acquire(never);
    assert.equal(slots.runningCount, 1);
    again.release();
  });

  it('admits queries without a slot while all slots are taken, and queues them in ensureSlot()', async () => {
    const slots = new QuerySlots(1);
    const busy = await slots.acquire(never);
    const withoutSlot = await slots.acquireOrStartWithoutSlot(never);
    // A query that needs no slot continues without one.
    withoutSlot.yieldSlot();
    assert.equal(withoutSlot.reacquire(), undefined);
    const acquired = withoutSlot.ensureSlot();
    assert.equal(await isSettled(acquired), false);
    busy.release();
    await acquired;
    assert.equal(slots.runningCount, 1);
    assert.equal(withoutSlot.ensureSlot(), undefined);
    withoutSlot.release();
    assert.equal(slots.runningCount, 0);
    const first = await slots.acquireOrStartWithoutSlot(never);
    assert.equal(slots.runningCount, 1);
    first.release();
  });

  it('gives a query without a slot one that was released or yielded before ensureSlot()', async () => {
    for (const operation of ['release', 'yieldSlot'] as const) {
      const slots = new QuerySlots(1);
      const busy = await slots.acquire(never);
      const withoutSlot = await slots.acquireOrStartWithoutSlot(never);
      busy[operation]();
      assert.equal(await isSettled(withoutSlot.ensureSlot()), true, operation);
      busy.release();
      withoutSlot.release();
      assert.equal(slots.runningCount, 0, operation);
    }
  });

  it('limits the number of queries without a slot, and admits more when some end', async () => {
    const slots = new QuerySlots(1);
    const busy = await slots.acquire(never);
    const slotlessQueries = await Promise.all(
      Array.from({ length: 16 }, () => slots.acquireOrStartWithoutSlot(never)),
    );
    const late = slots.acquireOrStartWithoutSlot(never);
    assert.equal(await isSettled(late), false);
    const gone = new AbortController();
    const leaving = await (async () => {
      slotlessQueries.pop()?.release();
      return await slots.acquireOrStartWithoutSlot(gone);
    })();
    const acquiring = leaving.ensureSlot();
    gone.abort();
    await assert.rejects(async () => await acquiring, { kind: 'query_cancelled' });
    leaving.release();
    leaving.release();
    for (const withoutSlot of slotlessQueries) withoutSlot.release();
    busy.release();
    (await late).release();
    assert.equal(slots.runningCount, 0);
    assert.equal(slots.waitingCount, 0);
  });

  it('keeps the slot count correct when a query is aborted in any state', async () => {
    for (const giveUp of ['held', 'idle', 'yielded', 'regaining', 'aborted'] as const) {
      const slots = new QuerySlots(1);
      const abort = new AbortController();
      const slow = await slots.acquire(abort);
      if (giveUp !== 'held') slow.yieldSlot();
      const other = giveUp === 'held' || giveUp === 'idle' ? undefined : await slots.acquire(never);
      const back = giveUp === 'regaining' || giveUp === 'aborted' ? slow.reacquire() : undefined;
      if (giveUp === 'aborted') {
        abort.abort();
        await assert.rejects(back ?? Promise.resolve());
      }
      slow.release();
      other?.release();
      await back?.catch(() => undefined);
      const again = await slots.acquire(never);
      assert.equal(slots.runningCount, 1, giveUp);
      assert.equal(slots.waitingCount, 0, giveUp);
      again.release();
      assert.equal(slots.runningCount, 0, giveUp);
    }
  });

  it('limits lent slots by the memory of computed results', async () => {
    const slots = new QuerySlots(1);
    for (let count = 0; count < 17; count++) (await slots.acquire(never)).yieldSlot();
    assert.equal(await isSettled(slots.acquire(never)), false);
  });
});
