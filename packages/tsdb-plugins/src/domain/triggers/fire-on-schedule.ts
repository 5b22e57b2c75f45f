import type { Clock } from '@plinth/kernel';
import type { Schedule } from './schedule.js';

/** Maximum sleep, so that a change of the system clock is detected within a minute. */
const LONGEST_SLEEP_MS = 60_000;

/**
 * Maximum step back that counts as a clock correction; a larger step means that the clock was set.
 */
const SET_BACK_NS = 1_000_000_000n;

/** Maximum delay of a schedule; after a longer delay, missed times are skipped. */
const LONGEST_LATENESS_NS = 3_600_000_000_000n;

/** Calls `fire` at each time of the schedule until the signal is aborted. */
export async function fireOnSchedule(
  schedule: Schedule,
  options: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    /** @returns the number of waiting runs that were dropped for this one. */
    readonly fire: (timeNs: bigint) => number;
    readonly onSkipped: (count: number) => void;
  },
): Promise<void> {
  const { clock, signal } = options;
  const nextNs = (afterNs: bigint) => schedule.nextNs(afterNs);
  let seenNs = clock.nowNs();
  let timeNs = nextNs(seenNs);
  while (timeNs !== undefined && !signal.aborted) {
    const nowNs = clock.nowNs();
    const isSetBack = seenNs - nowNs > SET_BACK_NS;
    seenNs = nowNs;
    if (isSetBack) {
      timeNs = nextNs(nowNs);
      continue;
    }
    const restMs = Number(timeNs - nowNs) / 1e6;
    if (restMs > 0) {
      await clock.sleep(Math.min(restMs, LONGEST_SLEEP_MS), signal).catch(() => undefined);
      continue;
    }
    const skippedCount = options.fire(timeNs);
    if (skippedCount > 0) options.onSkipped(skippedCount);
    timeNs = nextNs(timeNs);
    // Times that passed during machine sleep or a clock change are skipped.
    const lateNs = timeNs === undefined ? 0n : clock.nowNs() - timeNs;
    if (lateNs > LONGEST_LATENESS_NS) timeNs = nextNs(clock.nowNs());
  }
}
