import type { Clock } from './clock.js';

/** A thread that is at work for a larger part of the time has other things to do. */
const CALM_PART = 0.3;

/**
 * Resolves when this thread was at work for less than 30 % of the last `stepMs`, at the latest after `longestMs`. Work
 * that is done ahead of requests waits for this; rejects with the signal's reason when aborted.
 */
export async function whenIdle(options: {
  readonly clock: Clock;
  readonly stepMs: number;
  readonly longestMs: number;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { clock, stepMs, longestMs, signal } = options;
  const latestMs = clock.monotonicMs() + longestMs;
  for (;;) {
    const before = performance.eventLoopUtilization();
    await clock.sleep(stepMs, signal);
    if (performance.eventLoopUtilization(before).utilization < CALM_PART) return;
    if (clock.monotonicMs() >= latestMs) return;
  }
}
