import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { IntervalValue } from '@plinth/tsdb-model/sql-type.js';
import { NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';

const NS: Readonly<Record<string, bigint>> = {
  nanosecond: 1n,
  microsecond: 1_000n,
  millisecond: 1_000_000n,
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
};
const DAYS: Readonly<Record<string, bigint>> = { day: 1n, week: 7n };
const MONTHS: Readonly<Record<string, bigint>> = {
  month: 1n,
  quarter: 3n,
  year: 12n,
  decade: 120n,
  century: 1200n,
};
const DAYS_PER_MONTH = 30n;
const SHORT: Readonly<Record<string, string>> = {
  ns: 'nanosecond',
  us: 'microsecond',
  usec: 'microsecond',
  usecond: 'microsecond',
  ms: 'millisecond',
  msec: 'millisecond',
  msecond: 'millisecond',
  s: 'second',
  sec: 'second',
  m: 'minute',
  min: 'minute',
  h: 'hour',
  hr: 'hour',
  d: 'day',
  w: 'week',
  mon: 'month',
  y: 'year',
  yr: 'year',
  dec: 'decade',
  c: 'century',
  cent: 'century',
  centuries: 'century',
};

/**
 * Parses `1 day 6 hours`, `-4 minutes 1 nanosecond` or `90`. A fraction of a month is converted to
 * complete days (30 per month), a fraction of a longer unit to complete months, and a fraction of a
 * week or day to nanoseconds. Throws `plan_error`.
 * Source: query-languages, "INTERVAL".
 */
export function parseInterval(text: string, defaultUnit = 'second'): IntervalValue {
  const words = text
    .trim()
    .toLowerCase()
    .replaceAll(/([0-9.])([a-z])/g, '$1 $2')
    .split(/\s+/);
  let [months, days, nanos] = [0, 0, 0n];
  for (let index = 0; index < words.length; ) {
    const amount = words[index] ?? '';
    if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(amount)) throw badInterval(text);
    const next = words[index + 1];
    const hasUnit = next !== undefined && !/^[+-]?[\d.]/.test(next);
    const unit = unitName(hasUnit ? next : defaultUnit);
    index += hasUnit ? 2 : 1;
    if (Object.hasOwn(NS, unit)) {
      nanos += scaled(amount, NS[unit] ?? 0n);
    } else if (Object.hasOwn(DAYS, unit)) {
      const perUnit = DAYS[unit] ?? 0n;
      const whole = wholePart(amount);
      days += Number(whole * perUnit);
      nanos += scaled(amount, perUnit * NS_PER_DAY) - whole * perUnit * NS_PER_DAY;
    } else if (Object.hasOwn(MONTHS, unit)) {
      months += Number(scaled(amount, MONTHS[unit] ?? 0n));
      if (unit === 'month')
        days += Number(scaled(amount, DAYS_PER_MONTH) - wholePart(amount) * DAYS_PER_MONTH);
    } else {
      throw badInterval(text);
    }
  }
  if (!Number.isSafeInteger(months) || Math.abs(months) > 2 ** 31 - 1) throw badInterval(text);
  if (Math.abs(days) > 2 ** 31 - 1 || BigInt.asIntN(64, nanos) !== nanos) throw badInterval(text);
  return { months, days, nanos };
}

const wholePart = (amount: string): bigint => scaled(amount, 1n);

function unitName(keyword: string): string {
  const short = Object.hasOwn(SHORT, keyword) ? SHORT[keyword] : undefined;
  if (short !== undefined) return short;
  const singular = keyword.endsWith('s') ? keyword.slice(0, -1) : keyword;
  return Object.hasOwn(SHORT, singular) ? (SHORT[singular] ?? singular) : singular;
}

/** Multiplies decimal text by `unit` exactly and truncates the fraction. */
function scaled(amount: string, unit: bigint): bigint {
  const isNegative = amount.startsWith('-');
  const [whole = '', fraction = ''] = amount.replace(/^[+-]/, '').split('.');
  const digits = fraction.slice(0, 18);
  const value =
    BigInt(whole || '0') * unit + (BigInt(digits || '0') * unit) / 10n ** BigInt(digits.length);
  return isNegative ? -value : value;
}

function badInterval(text: string): TsdbError<'plan_error'> {
  return tsdbError(
    'plan_error',
    `Error during planning: Parser error: Invalid input syntax for type interval: "${text}"`,
  );
}

export function negateInterval(value: IntervalValue): IntervalValue {
  return { months: -value.months, days: -value.days, nanos: -value.nanos };
}

export function addIntervals(a: IntervalValue, b: IntervalValue): IntervalValue {
  return { months: a.months + b.months, days: a.days + b.days, nanos: a.nanos + b.nanos };
}

export function multiplyInterval(value: IntervalValue, factor: number): IntervalValue {
  return {
    months: value.months * factor,
    days: value.days * factor,
    nanos: value.nanos * BigInt(factor),
  };
}

export function intervalDisplayName(value: IntervalValue): string {
  return (
    'IntervalMonthDayNano("IntervalMonthDayNano { ' +
    `months: ${value.months}, days: ${value.days}, nanoseconds: ${value.nanos} }")`
  );
}
