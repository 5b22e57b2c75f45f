// Source: webhooks, section 7.4.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Lane } from './lane.js';
import { NodeSlots } from './node-slots.js';

/** Takes slots for an app for as long as it may. */
function fill(slots: NodeSlots, lane: Lane): number {
  while (slots.admits(lane)) slots.take(lane);
  return lane.inflightCount;
}

it('lets an app run as many attempts as slots are free, and a first one in the last slot', () => {
  const slots = new NodeSlots(16);
  const lanes = Array.from({ length: 6 }, (_, i) => new Lane(i, undefined));
  // 8 of 16, then 4 of 8, 2 of 4, 1 of 2, and the last one.
  assert.deepEqual(
    lanes.map((lane) => fill(slots, lane)),
    [8, 4, 2, 1, 1, 0],
  );
  assert.equal(slots.isFull, true);
});

it('returns apps that wait in their order, each once', () => {
  const slots = new NodeSlots(2);
  const [first, second, third] = [
    new Lane(1, undefined),
    new Lane(2, undefined),
    new Lane(3, undefined),
  ];
  slots.take(first);
  slots.take(second);
  assert.deepEqual(
    [third, first, third].map((lane) => slots.admits(lane)),
    [false, false, false],
  );
  slots.release(second);
  assert.deepEqual(
    [slots.nextWaiting(), slots.nextWaiting(), slots.nextWaiting()],
    [third, first, undefined],
  );
  assert.equal(slots.usedCount, 1);
});
