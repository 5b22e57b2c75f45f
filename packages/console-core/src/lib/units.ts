const SI = ['', 'k', 'M', 'G', 'T', 'P'];
const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats a count with the browser's separators. */
export const countText = (count: number | bigint): string =>
  new Intl.NumberFormat(undefined).format(count);

/** Formats a count with its noun, as in `1 row` and `2 rows`. */
export const countOf = (count: number, noun: string): string =>
  `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;

export function bytesText(bytes: number): string {
  let value = bytes;
  let index = 0;
  while (Math.abs(value) >= 1024 && index < BINARY.length - 1) {
    value /= 1024;
    index++;
  }
  return `${index === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${BINARY[index]}`;
}

/** Formats a short number for axes and legends: 12.4 k. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e18)) return value.toExponential(2);
  if (size < 1e4) return trimmed(value, size < 10 ? 3 : size < 1000 ? 2 : 1);
  let scaled = value;
  let index = 0;
  while (Math.abs(scaled) >= 1000 && index < SI.length - 1) {
    scaled /= 1000;
    index++;
  }
  return `${trimmed(scaled, 2)} ${SI[index]}`;
}

const trimmed = (value: number, digits: number): string => String(Number(value.toFixed(digits)));

/** The unit of a column, from the end of its name. */
export type Unit = 'bytes' | 'ms' | 'seconds' | 'percent' | 'none';

const UNIT_ENDS: Readonly<Record<string, Unit>> = {
  ...{ bytes: 'bytes', ms: 'ms', millis: 'ms', seconds: 'seconds', sec: 'seconds' },
  ...{ percent: 'percent', pct: 'percent' },
};

/**
 * Returns the unit of a column. The builder of Explore appends its aggregate to some names. Counts and rates have a
 * different unit than their column.
 */
export function unitOf(column: string): Unit {
  const [, end = ''] = /_([a-z]+)(?:_(?:avg|min|max|sum|last|p95))?$/i.exec(column) ?? [];
  return UNIT_ENDS[end.toLowerCase()] ?? 'none';
}

/** Formats a value with its unit and about three digits. */
export function quantityText(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return '–';
  if (unit === 'bytes') {
    let [scaled, index] = [value, 0];
    for (; Math.abs(scaled) >= 1024 && index < BINARY.length - 1; index++) scaled /= 1024;
    return `${digits3(scaled)} ${BINARY[index]}`;
  }
  if (unit === 'percent') return `${digits3(value)} %`;
  if (unit === 'none') return shortNumber(value);
  const ms = unit === 'seconds' ? value * 1000 : value;
  const size = Math.abs(ms);
  if (size >= 60_000) return `${ms < 0 ? '−' : ''}${durationText(size / 1000)}`;
  if (size >= 1000) return `${digits3(ms / 1000)} s`;
  return size >= 1 || size === 0 ? `${digits3(ms)} ms` : `${digits3(ms * 1000)} µs`;
}

/** Formats three digits, and all digits before the decimal point. */
function digits3(value: number): string {
  const size = Math.abs(value);
  return trimmed(value, size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2);
}

export function millisText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return durationText(ms / 1000);
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** Formats the two largest units: 3 d 4 h. */
export function durationText(seconds: number): string {
  const parts: string[] = [];
  let left = Math.round(seconds);
  for (const [size, name] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 s';
}

export const retentionText = (ns: string | null): string =>
  ns === null ? 'Forever' : durationText(Number(BigInt(ns) / 1_000_000_000n));

/** Formats a nanosecond time with all its digits: `2026-11-26 00:24:27.34`. */
export function nanosText(ns: bigint): string {
  const ms = ns / 1_000_000n - (ns % 1_000_000n < 0n ? 1n : 0n);
  const date = new Date(Number(ms));
  if (Number.isNaN(date.getTime())) return `${ns} ns`;
  const whole = date.toISOString().slice(0, -5).replace('T', ' ');
  const seconds = ns / 1_000_000_000n - (ns % 1_000_000_000n < 0n ? 1n : 0n);
  const fraction = (ns - seconds * 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** `2026-11-26 00:24:27`, in UTC, of milliseconds since 1970 or an RFC 3339 time in UTC. */
export const timeText = (time: number | string): string =>
  (typeof time === 'number' ? new Date(time).toISOString() : time).slice(0, 19).replace('T', ' ');

/** @param seconds since 1970. */
export const secondsText = (seconds: number): string => timeText(seconds * 1000);
