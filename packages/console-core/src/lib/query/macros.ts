import type { TimeRange } from '../time/time-range.js';
import { QUOTED } from './quoted.js';

export type Language = 'sql' | 'influxql';

const NAMES = String.raw`\$\{(from|to|interval|max_points)\}`;
/** Macros inside strings are data, so strings are matched too. */
const MACRO = {
  sql: new RegExp(`${QUOTED.sql}|${NAMES}`, 'g'),
  influxql: new RegExp(`${QUOTED.influxql}|${NAMES}`, 'g'),
};
/** Bucket widths, with their names in both languages. */
const INTERVALS: readonly (readonly [ms: number, sql: string, influxql: string])[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => step(n, 'millisecond', 'ms', 1)),
  ...[1, 2, 5, 10, 15, 30].map((n) => step(n, 'second', 's', 1000)),
  ...[1, 2, 5, 10, 15, 30].map((n) => step(n, 'minute', 'm', 60_000)),
  ...[1, 2, 3, 6, 12].map((n) => step(n, 'hour', 'h', 3_600_000)),
  ...[1, 2, 7, 14, 30].map((n) => step(n, 'day', 'd', 86_400_000)),
];

function step(n: number, unit: string, letter: string, unitMs: number) {
  return [n * unitMs, `${n} ${unit}${n === 1 ? '' : 's'}`, `${n}${letter}`] as const;
}

/** Returns the narrowest width with at most `maxPoints` buckets, up to 30 days. */
export function intervalFor({ fromMs, toMs }: TimeRange, maxPoints: number) {
  const found = INTERVALS.find(([ms]) => (toMs - fromMs) / ms <= maxPoints);
  const [ms, sql, influxql] = found ?? (INTERVALS.at(-1) as (typeof INTERVALS)[number]);
  return { ms, sql, influxql };
}

export interface Expanded {
  readonly text: string;
  /** Maps a position in the sent text to the typed text. */
  placeOf(position: number): number;
}

/** Replaces `${from}`, `${to}`, `${interval}` and `${max_points}` with literals. */
export function expandMacros(
  typed: string,
  options: { readonly language: Language; readonly range: TimeRange; readonly maxPoints: number },
): Expanded {
  const { language, range, maxPoints } = options;
  const isSql = language === 'sql';
  const time = (ms: number): string => {
    const iso = new Date(ms).toISOString();
    return isSql ? `TIMESTAMP '${iso}'` : `'${iso}'`;
  };
  const literalOf = (name: string): string => {
    if (name === 'from') return time(range.fromMs);
    if (name === 'to') return time(range.toMs);
    if (name === 'max_points') return String(maxPoints);
    const interval = intervalFor(range, maxPoints);
    return isSql ? `INTERVAL '${interval.sql}'` : interval.influxql;
  };
  const shifts: { readonly end: number; readonly by: number }[] = [];
  let grown = 0;
  const text = typed.replace(MACRO[language], (macro, name: string | undefined, index: number) => {
    if (name === undefined) return macro;
    const literal = literalOf(name);
    grown += literal.length - macro.length;
    shifts.push({ end: index + macro.length + grown, by: grown });
    return literal;
  });
  return {
    text,
    placeOf: (position) => position - (shifts.findLast(({ end }) => end <= position)?.by ?? 0),
  };
}

/** The condition that bounds a query to the time range. */
export const RANGE_CONDITION = 'time >= ${from} AND time < ${to}';

export const usesRange = (text: string): boolean => /\$\{(?:from|to)\}/.test(text);
