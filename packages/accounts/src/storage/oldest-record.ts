import type { Clock } from '@plinth/kernel';

/**
 * Returns the creation time of the oldest valid records, in milliseconds. Maintenance removes older
 * records later.
 */
export type OldestRecordMs = () => number;

export const oldestRecordMs =
  (clock: Clock, ttlSec: number): OldestRecordMs =>
  () =>
    clock.nowMs() - ttlSec * 1000;
