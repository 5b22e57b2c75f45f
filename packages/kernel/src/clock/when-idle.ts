import type { Clock } from './clock.js';

/** Above this share of busy time, a thread does not count as idle. */
const MAX_BUSY_SHARE = 0.3;

/**
 * Resolves when this thread was busy for less than 30 % of the last `stepMs`, or at the latest after `longestMs`.
 * Used for work that prepares for requests. Rejects with the signal's reason when aborted.
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
    if (performance.eventLoopUtilization(before).utilization < MAX_BUSY_SHARE) return;
    if (clock.monotonicMs() >= latestMs) return;
  }
}
