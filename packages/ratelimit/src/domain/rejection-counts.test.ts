// Source: the console's specification, "Rate limits": callers with their rejected requests.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { RejectionCounts } from './rejection-counts.js';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 1, 10, 59);

it('counts the rejected requests of the current and the previous hour by caller and limit', async () => {
  const clock = new ManualClock(START_MS);
  const counts = new RejectionCounts(clock);
  counts.count('user:1', 'primary');
  counts.count('user:1', 'concurrency');
  counts.count('ip:192.0.2.1', 'primary');
  const once = { current: 1, previous: 0, limits: { primary: 1 }, lastMs: START_MS };
  assert.deepEqual(counts.report(10), {
    windowStartMs: Date.UTC(2026, 0, 1, 10),
    callers: [
      {
        ...{ identity: 'user:1', current: 2, previous: 0 },
        ...{ limits: { primary: 1, concurrency: 1 }, lastMs: START_MS },
      },
      { identity: 'ip:192.0.2.1', ...once },
    ],
    ...{ callerCount: 2, otherCount: 0 },
  });
  await clock.advanceMs(60_000);
  counts.count('ip:192.0.2.1', 'ban');
  counts.count('ip:192.0.2.1', 'ban');
  const { windowStartMs, callers } = counts.report(1);
  assert.equal(windowStartMs, Date.UTC(2026, 0, 1, 11));
  assert.deepEqual(callers, [
    {
      ...{ identity: 'ip:192.0.2.1', current: 2, previous: 1 },
      ...{ limits: { primary: 1, ban: 2 }, lastMs: START_MS + 60_000 },
    },
  ]);
  assert.equal(counts.report(1).callerCount, 2);
  assert.deepEqual(counts.of('user:1')?.previous, 2);
  assert.equal(counts.of('user:2'), undefined);

  // A clock that steps back does not move the counts to another window.
  clock.stepWallMs(-HOUR_MS);
  counts.count('user:1', 'primary');
  assert.equal(counts.of('user:1')?.current, 1);
  clock.stepWallMs(HOUR_MS);
  await clock.advanceMs(2 * HOUR_MS);
  assert.deepEqual(counts.report(10).callers, []);
});

it('keeps the callers with the most rejected requests in a flood of others', () => {
  const counts = new RejectionCounts(new ManualClock(START_MS), 100);
  for (let count = 0; count < 50; count++) counts.count('user:1', 'primary');
  for (let count = 0; count < 40; count++) counts.count('user:2', 'primary');
  for (let address = 0; address < 10_000; address++) counts.count(`ip:${address}`, 'primary');
  const { callers, callerCount, otherCount } = counts.report(2);
  assert.deepEqual(
    callers.map(({ identity, current }) => [identity, current]),
    [
      ['user:1', 50],
      ['user:2', 40],
    ],
  );
  assert.equal(callerCount, 100);
  assert.equal(otherCount, 10_000 - 98);
});
