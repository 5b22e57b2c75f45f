import { floorDiv, NS_PER_DAY } from '../../../model/time/calendar.js';

/** Widths a partition may have, in days, from narrow to wide; 0 stands for one partition over all times. */
const WIDTHS_IN_DAYS = [1n, 8n, 64n, 512n, 4096n] as const;

/** A flush makes at most so many segments of one table; sparse data get wider partitions instead of more files. */
const MAX_PARTITIONS = 16;
/** All times are 52 of the widest partitions, and a partition is eight of the next narrower ones. */
export const MAX_SPLIT_PARTITIONS = 64;

export interface Partition {
  readonly startNs: bigint;
  /** 0: all times. */
  readonly widthNs: bigint;
}

/**
 * The partitions that hold some times: narrow ones unless there were too many.
 * @param numbersOf the distinct numbers of partitions of a width, counted from 1970-01-01, any order; `limit` of them are enough.
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
