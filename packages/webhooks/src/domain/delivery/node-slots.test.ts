// Source: webhooks, section 7.4.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AppQueue } from './app-queue.js';
import { NodeSlots } from './node-slots.js';

/** Takes slots for an app until it is not admitted. */
function fill(slots: NodeSlots, appQueue: AppQueue): number {
  while (slots.admits(appQueue)) slots.take(appQueue);
  return appQueue.inflightCount;
}

it('lets an app run as many attempts as slots are free, and a first one in the last slot', () => {
  const slots = new NodeSlots(16);
  const appQueues = Array.from({ length: 6 }, (_, i) => new AppQueue(i, undefined));
  // An app can use half of the free slots. The first app gets 8 of 16, the next ones 4 of 8, 2 of 4
  // and 1 of 2. The last app uses the last slot.
  assert.deepEqual(
    appQueues.map((appQueue) => fill(slots, appQueue)),
    [8, 4, 2, 1, 1, 0],
  );
  assert.equal(slots.isFull, true);
});

it('returns waiting apps in their order, each once', () => {
  const slots = new NodeSlots(2);
  const [first, second, third] = [
    new AppQueue(1, undefined),
    new AppQueue(2, undefined),
    new AppQueue(3, undefined),
  ];
  slots.take(first);
  slots.take(second);
  assert.deepEqual(
    [third, first, third].map((appQueue) => slots.admits(appQueue)),
    [false, false, false],
  );
  slots.release(second);
  assert.deepEqual(
    [slots.nextWaiting(), slots.nextWaiting(), slots.nextWaiting()],
    [third, first, undefined],
  );
  assert.equal(slots.usedCount, 1);
});
