/** Calendar arithmetic on nanoseconds since 1970-01-01 UTC, proleptic Gregorian, exact for every 64-bit value. */

export const NS_PER_SECOND = 1_000_000_000n;
export const NS_PER_HOUR = 3_600n * NS_PER_SECOND;
export const NS_PER_DAY = 24n * NS_PER_HOUR;

export const compareTimes = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Formats a time like `Date`, truncated to milliseconds. */
export const isoOf = (timeNs: bigint): string =>
  new Date(Number(timeNs / 1_000_000n)).toISOString();

/** Formats a time like `Date`, with all nanoseconds. */
export function isoNsOf(timeNs: bigint): string {
  const fraction = String(floorMod(timeNs, NS_PER_SECOND)).padStart(9, '0');
  return `${isoOf(floorDiv(timeNs, NS_PER_SECOND) * NS_PER_SECOND).slice(0, -4)}${fraction}Z`;
}

export interface CivilDate {
  readonly year: number;
  /** 1..12 */
  readonly month: number;
  /** 1..31 */
  readonly day: number;
}

/** Returns the quotient rounded toward minus infinity; `divisor` is positive. */
export function floorDiv(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

export function floorMod(value: bigint, divisor: bigint): bigint {
  return value - floorDiv(value, divisor) * divisor;
}

/** Returns the number of days from 1970-01-01 to a date. The day may be outside its month. */
export function daysFromCivil({ year, month, day }: CivilDate): number {
  // Years start in March here, so that the leap day is the last day of its year.
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  };
}

export function civilFromNs(timeNs: bigint): CivilDate {
  return civilFromDays(Number(floorDiv(timeNs, NS_PER_DAY)));
}

/** Returns the ISO 8601 week, which belongs to the year of its Thursday. */
export function isoWeek(days: number): { readonly year: number; readonly week: number } {
  const thursday = days - ((((days + 3) % 7) + 7) % 7) + 3;
  const { year } = civilFromDays(thursday);
  const dayOfYear = thursday - daysFromCivil({ year, month: 1, day: 1 });
  return { year, week: Math.floor(dayOfYear / 7) + 1 };
}

export function daysInMonth(year: number, month: number): number {
  const next =
    month === 12 ? { year: year + 1, month: 1, day: 1 } : { year, month: month + 1, day: 1 };
  return daysFromCivil(next) - daysFromCivil({ year, month, day: 1 });
}

/** Adds months. The time of day does not change; the day is clamped to the end of the month. */
export function addMonths(timeNs: bigint, months: number): bigint {
  const { year, month, day } = civilFromNs(timeNs);
  const monthIndex = year * 12 + (month - 1) + months;
  const target = { year: Math.floor(monthIndex / 12), month: (((monthIndex % 12) + 12) % 12) + 1 };
  const days = daysFromCivil({
    ...target,
    day: Math.min(day, daysInMonth(target.year, target.month)),
  });
  return BigInt(days) * NS_PER_DAY + floorMod(timeNs, NS_PER_DAY);
}

/**
 * Returns the start of the bin of width `widthNs` that contains `timeNs`. One bin starts at
 * `originNs`.
 */
export function binFixed(timeNs: bigint, widthNs: bigint, originNs: bigint): bigint {
  return timeNs - floorMod(timeNs - originNs, widthNs);
}

/**
 * Returns the start of the bin of `width` months that contains `timeNs`. Bin k starts at the origin
 * plus k * width months.
 * Source: query-languages, "Time functions", month bins.
 */
export function binMonths(timeNs: bigint, width: number, originNs: bigint): bigint {
  const time = civilFromNs(timeNs);
  const origin = civilFromNs(originNs);
  const distance = (time.year - origin.year) * 12 + time.month - origin.month;
  const steps = Math.floor(distance / width) * width;
  const start = addMonths(originNs, steps);
  return start > timeNs ? addMonths(originNs, steps - width) : start;
}
