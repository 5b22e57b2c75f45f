import { floorDiv, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';

/** Partition widths in days, from narrow to wide; 0 means one partition for all timestamps. */
const WIDTHS_IN_DAYS = [1n, 8n, 64n, 512n, 4096n] as const;

/**
 * Maximum number of segments that a flush creates per table; sparse data is written to wider partitions instead of more files.
 */
const MAX_PARTITIONS = 16;
/** All timestamps fit in 54 of the widest partitions. */
export const MAX_SPLIT_PARTITIONS = 64;

export interface Partition {
  readonly startNs: bigint;
  /** 0 means all timestamps. */
  readonly widthNs: bigint;
}

/**
 * Returns the partitions that contain some timestamps: the narrowest width that does not exceed
 * `maxCount`.
 * @param numbersOf returns the distinct partition numbers for a width, counted from 1970-01-01, in
 * any order, at most `limit`.
 */
export async function partitionsOf(
  numbersOf: (widthNs: bigint, limit: number) => Promise<readonly bigint[]>,
  maxCount = MAX_PARTITIONS,
): Promise<readonly Partition[]> {
  for (const width of WIDTHS_IN_DAYS) {
    const widthNs = width * NS_PER_DAY;
    const numbers = await numbersOf(widthNs, maxCount + 1);
    if (numbers.length > maxCount) continue;
    return numbers
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((number) => ({ startNs: number * widthNs, widthNs }));
  }
  return [{ startNs: 0n, widthNs: 0n }];
}

export function dayOf(timeNs: bigint): bigint {
  return floorDiv(timeNs, NS_PER_DAY);
}
