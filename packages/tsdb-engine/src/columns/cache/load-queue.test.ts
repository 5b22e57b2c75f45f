import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LoadQueue } from './load-queue.js';

/** Whether a load that yields to queries is delayed. */
async function isHeldBack(queue: LoadQueue): Promise<boolean> {
  let isHeld = true;
  const way = queue.pauseForQueries().then(() => {
    isHeld = false;
  });
  await setImmediate();
  const found = isHeld;
  await way;
  return found;
}

describe('yields of loads', () => {
  it('let queries go first for a limited time', async () => {
    const queue = new LoadQueue(() => performance.now());
    await queue.add(async () => {
      assert.equal(await isHeldBack(queue), false);
      queue.noteQuery();
      assert.equal(await isHeldBack(queue), true);
    }, false);
  });

  it('return immediately while a query waits for the load', async () => {
    const queue = new LoadQueue(() => performance.now());
    queue.noteQuery();
    await queue.add(async () => assert.equal(await isHeldBack(queue), false), true);
  });

  it('return immediately while a query waits for a later load', async () => {
    const queue = new LoadQueue(() => performance.now());
    await queue.add(async () => {
      void queue.add(async () => undefined, true);
      queue.noteQuery();
      assert.equal(await isHeldBack(queue), false);
    }, false);
  });
});
