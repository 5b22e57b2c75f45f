// Source: rate-limits, section 14.3. After five consecutive errors, Redis gets no calls for a
// second, then a probe.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { Outages } from './outages.js';

function open() {
  const clock = new ManualClock(0);
  const changes: boolean[] = [];
  return { clock, changes, outages: new Outages(clock, (isWhole) => changes.push(isWhole)) };
}

const fail = (outages: Outages, server: string, count: number): void => {
  for (let index = 0; index < count; index += 1) outages.noteFailure(server);
};

describe('Outages', () => {
  it('pauses only the failing server for a second after five consecutive failures', async () => {
    const { clock, outages } = open();
    fail(outages, 'a', 4);
    assert.equal(outages.isPaused('a'), false);
    fail(outages, 'a', 1);
    assert.deepEqual([outages.isPaused('a'), outages.isPaused('b')], [true, false]);
    outages.noteSuccess('b');
    assert.equal(outages.isPaused('a'), true);
    await clock.advanceMs(1_000);
    assert.equal(outages.isPaused('a'), false);
    fail(outages, 'a', 1);
    assert.equal(outages.isPaused('a'), true);
  });

  it('counts only consecutive failures', () => {
    const { outages } = open();
    fail(outages, 'a', 4);
    outages.noteSuccess('a');
    fail(outages, 'a', 4);
    assert.equal(outages.isPaused('a'), false);
  });

  it('reports the first unavailable server, and when all are available again', async () => {
    const { clock, changes, outages } = open();
    outages.noteSuccess('a');
    fail(outages, 'a', 2);
    fail(outages, 'b', 1);
    assert.deepEqual(changes, [false]);
    outages.noteSuccess('a');
    assert.deepEqual(changes, [false]);
    outages.noteSuccess('b');
    assert.deepEqual(changes, [false, true]);
    // A server that left the cluster receives no further calls.
    fail(outages, 'c', 1);
    await clock.advanceMs(11_000);
    outages.noteSuccess('a');
    assert.deepEqual(changes, [false, true, false, true]);
  });
});
