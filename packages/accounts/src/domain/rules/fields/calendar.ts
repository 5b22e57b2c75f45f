import type { CalendarDate } from '../../../model/account/parts.js';

/** Members of a date as a client may send them. */
export type GivenDate = { readonly [K in keyof CalendarDate]?: number | null };

/** Returns the start of the day in UTC in milliseconds; `undefined` if the date does not exist. */
export function dayStartMs(date: GivenDate): number | undefined {
  const { year, month, day } = date;
  if (!isWhole(year) || !isWhole(month) || !isWhole(day)) return undefined;
  if (year < 0 || year > 9999) return undefined;
  const start = new Date(0);
  // `Date.UTC` would map the years 0 to 99 to 1900 to 1999.
  start.setUTCFullYear(year, month - 1, day);
  const isSame = start.getUTCMonth() === month - 1 && start.getUTCDate() === day;
  return isSame ? start.getTime() : undefined;
}

/** Returns the age in full years at a given instant; it increases on the birthday. */
export function ageAt(birth: GivenDate, nowMs: number): number {
  const now = new Date(nowMs);
  const { year, month, day } = birth as CalendarDate; // callers have validated it with `dayStartMs`
  const years = now.getUTCFullYear() - year;
  const monthsLeft = now.getUTCMonth() + 1 - month;
  const isBeforeBirthday = monthsLeft < 0 || (monthsLeft === 0 && now.getUTCDate() < day);
  return isBeforeBirthday ? years - 1 : years;
}

/** Formats a date as `1990-02-30` for messages. */
export function showDate(date: GivenDate): string {
  const pad = (part: number | null | undefined, width: number): string =>
    String(part ?? '').padStart(width, '0');
  return `${pad(date.year, 4)}-${pad(date.month, 2)}-${pad(date.day, 2)}`;
}

function isWhole(part: number | null | undefined): part is number {
  return typeof part === 'number' && Number.isInteger(part);
}
