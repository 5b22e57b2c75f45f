import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LoadQueue } from './load-queue.js';

/** Whether a load that yields to queries is delayed at all. */
async function isHeldBack(queue: LoadQueue): Promise<boolean> {
  let isHeld = true;
  const way = queue.giveWay().then(() => {
    isHeld = false;
  });
  await setImmediate();
  const found = isHeld;
  await way;
  return found;
}

describe('turns of loads', () => {
  it('go to questions first, and come in the end', async () => {
    const queue = new LoadQueue(() => performance.now());
    await queue.add(async () => {
      assert.equal(await isHeldBack(queue), false);
      queue.noteQuestion();
      assert.equal(await isHeldBack(queue), true);
    }, false);
  });

  it('come at once while a question waits for the load', async () => {
    const queue = new LoadQueue(() => performance.now());
    queue.noteQuestion();
    await queue.add(async () => assert.equal(await isHeldBack(queue), false), true);
  });

  it('come at once while a question waits for a load behind it', async () => {
    const queue = new LoadQueue(() => performance.now());
    await queue.add(async () => {
      void queue.add(async () => undefined, true);
      queue.noteQuestion();
      assert.equal(await isHeldBack(queue), false);
    }, false);
  });
});
