import {
  daysFromCivil,
  daysInMonth,
  floorDiv,
  NS_PER_DAY,
  NS_PER_SECOND,
} from '@plinth/tsdb-model/time/calendar.js';
import { instantOfLocal, isTimeZone } from '@plinth/tsdb-model/time/time-zone.js';

const FORM =
  /^\s*(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9})\d*)?)?\s*([A-Za-z+-][\w/+:-]{0,63})?)?\s*$/;
const MAX_TEXT_LENGTH = 256;

/**
 * Parses an RFC 3339 timestamp or one of its shorter forms to nanoseconds since 1970; returns
 * `undefined` for anything else. An offset or IANA zone may follow; without one, the timestamp is
 * in wall-clock time of `zone`. `onZone` may throw to reject a zone.
 */
export function parseTimestamp(
  text: string,
  zone = 'UTC',
  onZone?: (zone: string) => void,
): bigint | undefined {
  const timeNs = parseInstant(text, zone, onZone);
  return timeNs !== undefined && BigInt.asIntN(64, timeNs) === timeNs ? timeNs : undefined;
}

/**
 * Parses a date, or the date of a timestamp in UTC, to days since 1970; returns `undefined` for
 * anything else. Dates have four-digit years, which exceed the range of timestamps.
 */
export function parseDate(text: string): number | undefined {
  const timeNs = parseInstant(text, 'UTC');
  return timeNs === undefined ? undefined : Number(floorDiv(timeNs, NS_PER_DAY));
}

/** Returns nanoseconds since 1970, which can exceed 64 bits. */
function parseInstant(
  text: string,
  zone: string,
  onZone?: (zone: string) => void,
): bigint | undefined {
  const match = text.length > MAX_TEXT_LENGTH ? null : FORM.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '0', minute = '0', second = '0'] = match;
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  if (date.month < 1 || date.month > 12) return undefined;
  if (date.day < 1 || date.day > daysInMonth(date.year, date.month)) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const fraction = BigInt((match[7] ?? '').padEnd(9, '0'));
  const localNs =
    BigInt(daysFromCivil(date)) * NS_PER_DAY + BigInt(seconds) * NS_PER_SECOND + fraction;
  const written = match[8] ?? zone;
  onZone?.(written);
  if (!isTimeZone(written)) return undefined;
  return instantOfLocal(written, localNs);
}

/**
 * Parses `12:34` or `1:02:03.5 PM` to nanoseconds since midnight; returns `undefined` for anything
 * else.
 */
export function parseTimeOfDay(text: string): bigint | undefined {
  const match = /^(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:\s*([AP])M)?$/i.exec(text.trim());
  if (match === null) return undefined;
  const [, hourText = '', minute = '', second = '0', fraction = '', half = ''] = match;
  const isMorning = half.toUpperCase() === 'A';
  const hour = half === '' ? Number(hourText) : (Number(hourText) % 12) + (isMorning ? 0 : 12);
  const isValid = half === '' || (Number(hourText) >= 1 && Number(hourText) <= 12);
  if (!isValid || hour > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const seconds = BigInt(hour * 3600 + Number(minute) * 60 + Number(second));
  return seconds * NS_PER_SECOND + BigInt(fraction.padEnd(9, '0'));
}
