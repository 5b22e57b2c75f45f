import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QuerySlots } from './query-slots.js';

const never = new AbortController().signal;

/** Whether a promise has settled after everything that is due has run. */
async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  const pending = Symbol('pending');
  const later = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([Promise.resolve(promise).catch(() => undefined), later])) !== pending;
}

describe('QuerySlots', () => {
  it('lets as many run as there are slots, the others in order of arrival', async () => {
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

  it('lends the place of a query that waits for its client, and gives it back in turn', async () => {
    const slots = new QuerySlots(1);
    const slow = await slots.take(never);
    slow.lend();
    const quick = await slots.take(never);
    const back = slow.reclaim();
    assert.ok(back);
    assert.equal(await isSettled(back), false);
    quick.release();
    await back;
    // Nobody else wants it: no waiting.
    slow.lend();
    assert.equal(slow.reclaim(), undefined);
    slow.release();
    assert.equal(slots.runningCount, 0);
  });

  it('lends at once to who waits already', async () => {
    const slots = new QuerySlots(1);
    const slow = await slots.take(never);
    const waiting = slots.take(never);
    slow.lend();
    const quick = await waiting;
    slow.release();
    quick.release();
    const again = await slots.take(never);
    assert.equal(slots.runningCount, 1);
    again.release();
  });

  it('keeps count when a query is given up, whatever it waits for', async () => {
    for (const giveUp of ['held', 'idle', 'lent', 'regaining', 'aborted'] as const) {
      const slots = new QuerySlots(1);
      const abort = new AbortController();
      const slow = await slots.take(abort.signal);
      if (giveUp !== 'held') slow.lend();
      const other = giveUp === 'held' || giveUp === 'idle' ? undefined : await slots.take(never);
      const back = giveUp === 'regaining' || giveUp === 'aborted' ? slow.reclaim() : undefined;
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

  it('lends no more than what is computed may take room', async () => {
    const slots = new QuerySlots(1);
    for (let count = 0; count < 17; count++) (await slots.take(never)).lend();
    assert.equal(await isSettled(slots.take(never)), false);
  });
});
