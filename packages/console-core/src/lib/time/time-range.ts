import { isRelative, parseTimeText, timeTextOf } from './time-text.js';

/** A time range as stored in the address. Relative times remain relative. */
export interface RangeText {
  readonly from: string;
  readonly to: string;
}

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

export const DEFAULT_RANGE: RangeText = { from: 'now-1h', to: 'now' };

const LAST = [
  ['5 minutes', '5m'],
  ['15 minutes', '15m'],
  ['1 hour', '1h'],
  ['6 hours', '6h'],
  ['12 hours', '12h'],
  ['24 hours', '24h'],
  ['2 days', '2d'],
  ['7 days', '7d'],
  ['30 days', '30d'],
  ['90 days', '90d'],
  ['1 year', '365d'],
].map(([label, span]) => ({ label: `Last ${label}`, range: { from: `now-${span}`, to: 'now' } }));

/** Days are UTC days, as in all parts of the console. */
export const PRESETS: readonly { readonly label: string; readonly range: RangeText }[] = [
  ...LAST,
  { label: 'Today', range: { from: 'now/d', to: 'now' } },
  { label: 'Yesterday', range: { from: 'now-1d/d', to: 'now/d' } },
];

/** Returns `undefined` when a time is invalid or `from` is not before `to`. */
export function resolveRange(range: RangeText, nowMs: number): TimeRange | undefined {
  const fromMs = parseTimeText(range.from, nowMs);
  const toMs = parseTimeText(range.to, nowMs);
  return fromMs === undefined || toMs === undefined || fromMs >= toMs
    ? undefined
    : { fromMs, toMs };
}

export const absoluteRange = ({ fromMs, toMs }: TimeRange): RangeText => ({
  from: timeTextOf(Math.floor(fromMs)),
  to: timeTextOf(Math.ceil(toMs)),
});

/** Returns the full time range of a table with its nanosecond bounds; `undefined` for an empty table. */
export function rangeOfTable(table: {
  readonly min_time: string | null;
  readonly max_time: string | null;
}): TimeRange | undefined {
  if (table.min_time === null || table.max_time === null) return undefined;
  const ms = (ns: string): number => Number(BigInt(ns) / 1_000_000n);
  return { fromMs: ms(table.min_time), toMs: ms(table.max_time) + 1000 };
}

export const shiftRange = ({ fromMs, toMs }: TimeRange, direction: -1 | 1): TimeRange => {
  const half = ((toMs - fromMs) / 2) * direction;
  return { fromMs: fromMs + half, toMs: toMs + half };
};

export const widenRange = ({ fromMs, toMs }: TimeRange): TimeRange => {
  const half = (toMs - fromMs) / 2;
  return { fromMs: fromMs - half, toMs: toMs + half };
};

/** Returns whether the range depends on the current time. */
export const isMoving = ({ from, to }: RangeText): boolean => isRelative(from) || isRelative(to);

export function rangeLabel({ from, to }: RangeText): string {
  const preset = PRESETS.find(({ range }) => range.from === from && range.to === to);
  if (preset !== undefined) return preset.label;
  const short = (text: string): string =>
    isRelative(text) ? text : text.replace('T', ' ').replace(/Z$/, '');
  return `${short(from)} – ${short(to)}`;
}
