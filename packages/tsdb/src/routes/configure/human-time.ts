import { MAX_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';

/** Nanoseconds per unit; months and years are averages. Source: tsdb-http, "Databases". */
const NS_PER_UNIT: ReadonlyMap<string, bigint> = new Map(
  (
    [
      [['ns', 'nsec', 'nanos'], 1n],
      [['us', 'usec', 'µs', 'μs'], 1_000n],
      [['ms', 'msec', 'millis'], 1_000_000n],
      [['s', 'sec', 'secs', 'second', 'seconds'], NS_PER_SECOND],
      [['m', 'min', 'mins', 'minute', 'minutes'], 60n * NS_PER_SECOND],
      [['h', 'hr', 'hrs', 'hour', 'hours'], 3_600n * NS_PER_SECOND],
      [['d', 'day', 'days'], 86_400n * NS_PER_SECOND],
      [['w', 'wk', 'week', 'weeks'], 604_800n * NS_PER_SECOND],
      [['M', 'month', 'months'], 2_630_016n * NS_PER_SECOND],
      [['y', 'yr', 'year', 'years'], 31_557_600n * NS_PER_SECOND],
    ] as const
  ).flatMap(([names, ns]) => names.map((name): [string, bigint] => [name, ns])),
);

export type HumanTime = { readonly ns: bigint } | { readonly fault: string };

/**
 * Parses a retention period. Periods below a second are refused, because they would hide and delete
 * every row.
 */
export function parseRetention(text: string): HumanTime {
  const time = parseHumanTime(text);
  const isNone = 'ns' in time && time.ns === 0n;
  return isNone ? { fault: 'the retention period must be at least 1 second' } : time;
}

/**
 * Parses a duration such as `30d` or `1h 30min`, truncated to seconds. Returns a fault if the text
 * is invalid.
 */
function parseHumanTime(text: string): HumanTime {
  if (text.trim() === '') return { fault: 'value was empty' };
  const part = /\s*(\d+)\s*([A-Za-zµμ]*)\s*/y;
  let totalNs = 0n;
  while (part.lastIndex < text.length) {
    const at = part.lastIndex;
    const match = part.exec(text);
    if (match === null) return { fault: `expected number at ${at}` };
    const [, digits = '', unit = ''] = match;
    if (unit === '') {
      return { fault: `time unit needed, for example ${digits}sec or ${digits}ms` };
    }
    const ns = NS_PER_UNIT.get(unit);
    if (ns === undefined) {
      return {
        fault: `unknown time unit "${unit}", supported units: ns, us/µs, ms, sec, min, hours, days, weeks, months, years (and few variations)`,
      };
    }
    totalNs += BigInt(digits) * ns;
    if (totalNs > MAX_INT64) return { fault: 'number is too large' };
  }
  return { ns: totalNs - (totalNs % NS_PER_SECOND) };
}
