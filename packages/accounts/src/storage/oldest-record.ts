import type { Clock } from '@plinth/kernel';

/** When the oldest records were made that still count, in milliseconds; the upkeep removes older ones in its own time. */
export type OldestRecordMs = () => number;

export const oldestRecordMs =
  (clock: Clock, ttlSec: number): OldestRecordMs =>
  () =>
    clock.nowMs() - ttlSec * 1000;
