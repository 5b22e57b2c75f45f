// Source: rate-limits, section 14.3: after five errors in a row Redis is left alone for a second, then probed.
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
  it('leaves a server alone for a second after five failures in a row, the others not at all', async () => {
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

  it('counts failures in a row only', () => {
    const { outages } = open();
    fail(outages, 'a', 4);
    outages.noteSuccess('a');
    fail(outages, 'a', 4);
    assert.equal(outages.isPaused('a'), false);
  });

  it('tells when the first server is away and when none is any more', async () => {
    const { clock, changes, outages } = open();
    outages.noteSuccess('a');
    fail(outages, 'a', 2);
    fail(outages, 'b', 1);
    assert.deepEqual(changes, [false]);
    outages.noteSuccess('a');
    assert.deepEqual(changes, [false]);
    outages.noteSuccess('b');
    assert.deepEqual(changes, [false, true]);
    // One that left the cluster is never asked again.
    fail(outages, 'c', 1);
    await clock.advanceMs(11_000);
    outages.noteSuccess('a');
    assert.deepEqual(changes, [false, true, false, true]);
  });
});
