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
    const first = await slots.take(never);
    const second = slots.take(never);
    const third = slots.take(never);
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
    const first = await slots.take(never);
    const gone = new AbortController();
    gone.abort();
    const taking = slots.take(gone);
    assert.equal(slots.waitingCount, 0);
    await assert.rejects(taking, { kind: 'query_cancelled' });
    first.release();
    assert.equal(slots.runningCount, 0);
  });

  it('lends the slot of a query that waits for its client, and returns it in queue order', async () => {
    const slots = new QuerySlots(1);
    const slow = await slots.take(never);
    slow.yieldSlot();
    const quick = await slots.take(never);
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
    const slow = await slots.take(never);
    const waiting = slots.take(never);
    slow.yieldSlot();
    const quick = await waiting;
    slow.release();
    quick.release();
    const again = await slots.take(never);
    assert.equal(slots.runningCount, 1);
    again.release();
  });

  it('admits guests while all slots are taken, and queues them in enter()', async () => {
    const slots = new QuerySlots(1);
    const busy = await slots.take(never);
    const guest = await slots.admit(never);
    // A query that needs no slot continues without one.
    guest.yieldSlot();
    assert.equal(guest.reacquire(), undefined);
    const entered = guest.enter();
    assert.equal(await isSettled(entered), false);
    busy.release();
    await entered;
    assert.equal(slots.runningCount, 1);
    assert.equal(guest.enter(), undefined);
    guest.release();
    assert.equal(slots.runningCount, 0);
    const first = await slots.admit(never);
    assert.equal(slots.runningCount, 1);
    first.release();
  });

  it('gives a guest a slot that was released or yielded before enter()', async () => {
    for (const leave of ['release', 'yieldSlot'] as const) {
      const slots = new QuerySlots(1);
      const busy = await slots.take(never);
      const guest = await slots.admit(never);
      busy[leave]();
      assert.equal(await isSettled(guest.enter()), true, leave);
      busy.release();
      guest.release();
      assert.equal(slots.runningCount, 0, leave);
    }
  });

  it('limits the number of guests, and admits more when some leave', async () => {
    const slots = new QuerySlots(1);
    const busy = await slots.take(never);
    const guests = await Promise.all(Array.from({ length: 16 }, () => slots.admit(never)));
    const late = slots.admit(never);
    assert.equal(await isSettled(late), false);
    const gone = new AbortController();
    const leaving = await (async () => {
      guests.pop()?.release();
      return await slots.admit(gone);
    })();
    const entering = leaving.enter();
    gone.abort();
    await assert.rejects(async () => await entering, { kind: 'query_cancelled' });
    leaving.release();
    leaving.release();
    for (const guest of guests) guest.release();
    busy.release();
    (await late).release();
    assert.equal(slots.runningCount, 0);
    assert.equal(slots.waitingCount, 0);
  });

  it('keeps the slot count correct when a query is aborted in any state', async () => {
    for (const giveUp of ['held', 'idle', 'yielded', 'regaining', 'aborted'] as const) {
      const slots = new QuerySlots(1);
      const abort = new AbortController();
      const slow = await slots.take(abort);
      if (giveUp !== 'held') slow.yieldSlot();
      const other = giveUp === 'held' || giveUp === 'idle' ? undefined : await slots.take(never);
      const back = giveUp === 'regaining' || giveUp === 'aborted' ? slow.reacquire() : undefined;
      if (giveUp === 'aborted') {
        abort.abort();
        await assert.rejects(back ?? Promise.resolve());
      }
      slow.release();
      other?.release();
      await back?.catch(() => undefined);
      const again = await slots.take(never);
      assert.equal(slots.runningCount, 1, giveUp);
      assert.equal(slots.waitingCount, 0, giveUp);
      again.release();
      assert.equal(slots.runningCount, 0, giveUp);
    }
  });

  it('limits lent slots by the memory of computed results', async () => {
    const slots = new QuerySlots(1);
    for (let count = 0; count < 17; count++) (await slots.take(never)).yieldSlot();
    assert.equal(await isSettled(slots.take(never)), false);
  });
});
