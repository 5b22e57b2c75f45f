import { type TsdbError, tsdbError } from '../../../../../errors.js';
import type { IntervalValue } from '../../../../../model/sql-type.js';

const NS: Readonly<Record<string, bigint>> = {
  nanosecond: 1n,
  microsecond: 1_000n,
  millisecond: 1_000_000n,
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
};
const DAYS: Readonly<Record<string, number>> = { day: 1, week: 7 };
const MONTHS: Readonly<Record<string, number>> = {
  month: 1,
  quarter: 3,
  year: 12,
  decade: 120,
  century: 1200,
};
const SHORT: Readonly<Record<string, string>> = {
  ns: 'nanosecond',
  us: 'microsecond',
  usec: 'microsecond',
  ms: 'millisecond',
  msec: 'millisecond',
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
  centuries: 'century',
};

/**
 * Reads `1 day 6 hours`, `-4 minutes 1 nanosecond`, `90`. Fractions carry into the next smaller part.
 * Source: query-languages, "INTERVAL". Throws `plan_error`.
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
      const total = scaled(amount, BigInt(DAYS[unit] ?? 0) * 86_400_000_000_000n);
      days += Number(total / 86_400_000_000_000n);
      nanos += total % 86_400_000_000_000n;
    } else if (Object.hasOwn(MONTHS, unit)) {
      months += Math.trunc(Number(amount) * (MONTHS[unit] ?? 0));
    } else {
      throw badInterval(text);
    }
  }
  if (!Number.isSafeInteger(months) || Math.abs(months) > 2 ** 31 - 1) throw badInterval(text);
  if (Math.abs(days) > 2 ** 31 - 1 || BigInt.asIntN(64, nanos) !== nanos) throw badInterval(text);
  return { months, days, nanos };
}

function unitName(word: string): string {
  const short = Object.hasOwn(SHORT, word) ? SHORT[word] : undefined;
  if (short !== undefined) return short;
  const singular = word.endsWith('s') ? word.slice(0, -1) : word;
  return Object.hasOwn(SHORT, singular) ? (SHORT[singular] ?? singular) : singular;
}

/** `amount` (decimal text) times `unit`, exact, fractions of a nanosecond cut. */
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
