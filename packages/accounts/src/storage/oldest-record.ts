import type { Clock } from '@plinth/kernel';

/**
 * Creation time of the oldest valid records, in milliseconds. Maintenance removes older ones later.
 */
export type OldestRecordMs = () => number;

export const oldestRecordMs =
  (clock: Clock, ttlSec: number): OldestRecordMs =>
  () =>
    clock.nowMs() - ttlSec * 1000;
