import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { CrashPauses } from './crash-pauses.js';

const RAN = { end: 'exit code 3', hadStarted: true };
const BROKEN = { end: 'no such file', hadStarted: false };

function open() {
  const clock = new ManualClock();
  return { clock, pauses: new CrashPauses(clock, new AbortController().signal) };
}

// Source: processing-engine, 19.6.
describe('pauses after crashes', () => {
  it('start with the third crash within a minute, and double up to five minutes', async () => {
    const { clock, pauses } = open();
    assert.equal(pauses.addCrash(RAN), undefined);
    assert.equal(pauses.addCrash(RAN), undefined);
    for (const pauseMs of [10_000, 20_000, 40_000]) {
      assert.equal(pauses.addCrash(RAN), pauseMs);
      assert.equal(pauses.addCrash(RAN), undefined, 'one that is under way gets no longer');
      await clock.advanceMs(pauseMs);
      assert.equal(pauses.current, undefined);
    }
  });

  it('limit requests to ten process starts per second', async () => {
    const { clock, pauses } = open();
    for (let i = 0; i < 9; i++) pauses.addCrash(RAN);
    assert.equal(pauses.requestWaitMs, 0);
    pauses.addCrash(RAN);
    assert.equal(pauses.requestWaitMs, 1000);
    await clock.advanceMs(1000);
    assert.equal(pauses.requestWaitMs, 0);
    assert.equal(pauses.refusal, undefined);
  });

  it('refuse requests if processes do not start, until one does or the pause ends', async () => {
    const { clock, pauses } = open();
    for (let i = 0; i < 3; i++) pauses.addCrash(BROKEN);
    await clock.advanceMs(1500);
    assert.deepEqual(pauses.refusal, {
      text: 'the plugin cannot be started: no such file',
      retryAfterSec: 9,
    });
    pauses.started();
    assert.equal(pauses.refusal, undefined);
    for (let i = 0; i < 3; i++) pauses.addCrash(BROKEN);
    await clock.advanceMs(10_000);
    assert.equal(pauses.refusal, undefined);
  });
});
