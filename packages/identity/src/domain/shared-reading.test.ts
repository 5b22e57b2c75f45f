import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CredentialUncheckable } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import { SharedReading } from './shared-reading.js';

it('is valid for the maximum age from the start of the last reading, and not before the first', async () => {
  const clock = new ManualClock(0);
  const reading = new SharedReading(clock, 60);
  assert.throws(() => reading.requireRecent(), CredentialUncheckable);
  reading.note(clock.monotonicMs());
  await clock.advanceMs(60_000);
  reading.requireRecent();
  await clock.advanceMs(1);
  assert.throws(() => reading.requireRecent(), CredentialUncheckable);
  reading.note(clock.monotonicMs());
  reading.requireRecent();
});

it('is valid forever if no other node changes the store', async () => {
  const clock = new ManualClock(0);
  const reading = new SharedReading(clock, Number.POSITIVE_INFINITY);
  reading.note(0);
  await clock.advanceMs(1e12);
  reading.requireRecent();
});
