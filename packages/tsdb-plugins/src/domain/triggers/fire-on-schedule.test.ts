// Source: docs/spec/processing-engine.md, "Scheduling and delivery".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { fireOnSchedule } from './fire-on-schedule.js';

const SECOND_NS = 1_000_000_000n;
const EACH_SECOND = { nextNs: (afterNs: bigint) => (afterNs / SECOND_NS + 1n) * SECOND_NS };

async function firedWhile(run: (clock: ManualClock) => Promise<void>): Promise<readonly number[]> {
  const clock = new ManualClock(0);
  const stop = new AbortController();
  const fired: number[] = [];
  const ended = fireOnSchedule(EACH_SECOND, {
    clock,
    signal: stop.signal,
    fire: (timeNs) => {
      fired.push(Number(timeNs / SECOND_NS));
      return 0;
    },
    onSkipped: () => undefined,
  });
  await run(clock);
  stop.abort();
  await ended;
  return fired;
}

it('a schedule continues from the time to which a clock was set back', async () => {
  const fired = await firedWhile(async (clock) => {
    await clock.advanceMs(1_000_500);
    clock.stepWallMs(-600_000);
    await clock.advanceMs(3000);
  });
  assert.deepEqual(fired.slice(998), [999, 1000, 402, 403]);
});

it('a small clock correction does not fire a time twice', async () => {
  const fired = await firedWhile(async (clock) => {
    await clock.advanceMs(2000);
    clock.stepWallMs(-2);
    await clock.advanceMs(2500);
  });
  assert.deepEqual(fired, [1, 2, 3, 4]);
});
