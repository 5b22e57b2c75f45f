import type { IntervalValue } from '@plinth/tsdb-model/sql-type.js';
import { NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';

/** `0 days 0 hours 10 mins 0.000000000 secs`. */
export function durationText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const { hours, minutes, seconds } = splitClock(nanos < 0n ? -nanos : nanos);
  return `${sign}${hours / 24n} days ${sign}${hours % 24n} hours ${sign}${minutes} mins ${sign}${seconds} secs`;
}

/**
 * Formats an interval as `1 mons 2 days 3 hours`, without parts that are zero; `0 secs` if all are
 * zero.
 */
export function intervalText({ months, days, nanos }: IntervalValue): string {
  const parts: string[] = [];
  if (months !== 0) parts.push(`${months} mons`);
  if (days !== 0) parts.push(`${days} days`);
  const sign = nanos < 0n ? '-' : '';
  const magnitude = nanos < 0n ? -nanos : nanos;
  const { hours, minutes, seconds } = splitClock(magnitude);
  if (hours !== 0n) parts.push(`${sign}${hours} hours`);
  if (minutes !== 0n) parts.push(`${sign}${minutes} mins`);
  if (magnitude % (60n * NS_PER_SECOND) !== 0n) parts.push(`${sign}${seconds} secs`);
  return parts.length === 0 ? '0 secs' : parts.join(' ');
}

function splitClock(nanos: bigint) {
  const wholeSeconds = nanos / NS_PER_SECOND;
  const fraction = String(nanos % NS_PER_SECOND).padStart(9, '0');
  return {
    hours: wholeSeconds / 3600n,
    minutes: (wholeSeconds / 60n) % 60n,
    seconds: `${wholeSeconds % 60n}.${fraction}`,
  };
}
