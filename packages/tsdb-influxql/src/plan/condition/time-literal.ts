import {
  daysFromCivil,
  daysInMonth,
  NS_PER_DAY,
  NS_PER_SECOND,
} from '@plinth/tsdb-model/time/calendar.js';
import { instantOfLocal } from '@plinth/tsdb-model/time/time-zone.js';

const FORM =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:([T ])(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/**
 * Returns whether a string looks like a timestamp, so that an error in it is reported as a
 * timestamp error.
 */
export function looksLikeTime(text: string): boolean {
  return /^\d{4}-\d{1,2}-\d{1,2}/.test(text);
}

/**
 * Parses a timestamp; without an offset it is in wall-clock time of `zone`.
 * @returns nanoseconds, or `undefined` for an invalid timestamp.
 * Source: query-languages, "Time literals".
 */
export function parseTimeLiteral(text: string, zone: string | undefined): bigint | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const [, y, mo, d, , h = '0', mi = '0', s = '0', fraction = '', offset] = match;
  const date = { year: Number(y), month: Number(mo), day: Number(d) };
  if (date.month < 1 || date.month > 12) return undefined;
  if (date.day < 1 || date.day > daysInMonth(date.year, date.month)) return undefined;
  if (Number(h) > 23 || Number(mi) > 59 || Number(s) > 59) return undefined;
  const seconds = BigInt(Number(h) * 3600 + Number(mi) * 60 + Number(s));
  const localNs =
    BigInt(daysFromCivil(date)) * NS_PER_DAY +
    seconds * NS_PER_SECOND +
    BigInt(fraction.padEnd(9, '0'));
  if (offset === undefined) return zone === undefined ? localNs : instantOfLocal(zone, localNs);
  if (offset.toUpperCase() === 'Z') return localNs;
  const [hours = '0', minutes = '0'] = offset.slice(1).split(':');
  const offsetNs = BigInt(Number(hours) * 60 + Number(minutes)) * 60n * NS_PER_SECOND;
  return offset.startsWith('-') ? localNs + offsetNs : localNs - offsetNs;
}
