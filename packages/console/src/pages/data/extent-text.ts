import type { Extent } from '@plinth/console-core/api/tsdb.js';
import { nanosText } from '@plinth/console-core/lib/units.js';

/** Formats the first and the last time, to the second. */
export function extentText({ min_time, max_time }: Extent): string {
  if (min_time === null || max_time === null) return '–';
  const short = (ns: string): string => nanosText(BigInt(ns)).slice(0, 19);
  const [from, to] = [short(min_time), short(max_time)];
  return from === to ? from : `${from} – ${to}`;
}
