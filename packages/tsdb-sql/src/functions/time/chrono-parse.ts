import {
  daysFromCivil,
  daysInMonth,
  NS_PER_DAY,
  NS_PER_SECOND,
} from '@plinth/tsdb-model/time/calendar.js';
import { type FormatItem, formatItems, MONTHS, WEEKDAYS } from './chrono-format.js';

/** Nanoseconds since 1970 UTC, or chrono's message for text that does not match. */
export type ParsedTime = { readonly timeNs: bigint } | { readonly problem: string };

const INVALID: ParsedTime = { problem: 'input contains invalid characters' };
const TOO_SHORT: ParsedTime = { problem: 'premature end of input' };
const OUT_OF_RANGE: ParsedTime = { problem: 'input is out of range' };
const NOT_ENOUGH: ParsedTime = { problem: 'input is not enough for unique date and time' };

/** Values parsed so far. */
interface Fields {
  year?: number;
  month?: number;
  day?: number;
  dayOfYear?: number;
  hour?: number;
  hour12?: number;
  isAfternoon?: boolean;
  minute?: number;
  second?: number;
  nanos?: number;
  offsetSec?: number;
  epochSec?: number;
}

/** Numeric specifiers with maximum digit count, target field and range. */
const NUMBERS: Readonly<
  Record<
    string,
    { readonly digits: number; readonly field: keyof Fields; readonly range: [number, number] }
  >
> = {
  Y: { digits: 4, field: 'year', range: [-9999, 9999] },
  m: { digits: 2, field: 'month', range: [1, 12] },
  d: { digits: 2, field: 'day', range: [1, 31] },
  e: { digits: 2, field: 'day', range: [1, 31] },
  j: { digits: 3, field: 'dayOfYear', range: [1, 366] },
  H: { digits: 2, field: 'hour', range: [0, 23] },
  k: { digits: 2, field: 'hour', range: [0, 23] },
  I: { digits: 2, field: 'hour12', range: [1, 12] },
  l: { digits: 2, field: 'hour12', range: [1, 12] },
  M: { digits: 2, field: 'minute', range: [0, 59] },
  S: { digits: 2, field: 'second', range: [0, 60] },
  f: { digits: 9, field: 'nanos', range: [0, 999_999_999] },
  s: { digits: 19, field: 'epochSec', range: [-9_223_372_036, 9_223_372_036] },
};

/**
 * Parses `text` by a strftime format. Without a time of day the result is midnight, without an
 * offset it is UTC.
 * Source: chrono, module `format::strftime`; DataFusion, `to_timestamp` with formats.
 */
export function parseByFormat(text: string, format: string): ParsedTime {
  const items = formatItems(format);
  if (items === undefined) return { problem: 'bad or unsupported format string' };
  const fields: Fields = {};
  let rest = text;
  for (const item of items) {
    const next = item.kind === 'text' ? skipText(rest, item.text) : readSpec(rest, item, fields);
    if (typeof next !== 'string') return next;
    rest = next;
  }
  return rest === '' ? resolve(fields) : { problem: 'trailing input' };
}

/** White space in a format matches any amount of white space. */
function skipText(input: string, text: string): string | ParsedTime {
  let rest = input;
  for (const part of text.match(/\s+|\S+/g) ?? []) {
    if (/^\s/.test(part)) rest = rest.trimStart();
    else if (rest.startsWith(part)) rest = rest.slice(part.length);
    else return part.startsWith(rest) ? TOO_SHORT : INVALID;
  }
  return rest;
}

function readSpec(
  input: string,
  { spec }: Extract<FormatItem, { kind: 'spec' }>,
  fields: Fields,
): string | ParsedTime {
  const number = NUMBERS[spec];
  if (number !== undefined) {
    const match = new RegExp(
      `^\\s*(${spec === 'Y' || spec === 's' ? '[+-]?' : ''}\\d{1,${number.digits}})`,
    ).exec(input);
    if (match === null) return input.trim() === '' ? TOO_SHORT : INVALID;
    const value = Number(match[1]);
    if (value < number.range[0] || value > number.range[1]) return OUT_OF_RANGE;
    Object.assign(fields, { [number.field]: value });
    return input.slice(match[0].length);
  }
  switch (spec) {
    case 'y':
      return readBy(input, /^\s*(\d\d)/, (digits) => {
        fields.year = Number(digits) + (Number(digits) < 70 ? 2000 : 1900);
      });
    case 'b':
    case 'B':
    case 'h':
      return readName(input, MONTHS, (index) => {
        fields.month = index + 1;
      });
    case 'a':
    case 'A':
      return readName(input, WEEKDAYS, () => undefined);
    case 'p':
    case 'P':
      return readBy(input, /^(am|pm)/i, (half) => {
        fields.isAfternoon = half.toLowerCase() === 'pm';
      });
    case '.f':
      return input.startsWith('.') ? readFraction(input, /^\.(\d+)/, fields) : input;
    case '3f':
    case '6f':
    case '9f':
      return readFraction(input, new RegExp(`^(\\d{${spec[0]}})`), fields);
    case '.3f':
    case '.6f':
    case '.9f':
      return readFraction(input, new RegExp(`^\\.(\\d{${spec[1]}})`), fields);
    case 'z':
    case ':z':
    case '::z':
      return readBy(input, /^\s*(Z|[+-]\d\d:?\d\d(?::?\d\d)?)/i, (offset) => {
        fields.offsetSec = offsetSeconds(offset);
      });
    case '#z':
      return readBy(input, /^\s*(Z|[+-]\d\d(?::?\d\d)?)/i, (offset) => {
        fields.offsetSec = offsetSeconds(offset);
      });
    case 'Z':
      return readBy(input, /^(\S*)/, () => undefined);
    case 'w':
    case 'u':
      return readBy(input, /^\s*(\d)/, () => undefined);
    default:
      // Week numbers are ignored; they are not sufficient without a date and redundant with one.
      return readBy(input, /^\s*(\d{1,4})/, () => undefined);
  }
}

function readBy(
  input: string,
  pattern: RegExp,
  take: (captured: string) => void,
): string | ParsedTime {
  const match = pattern.exec(input);
  if (match === null) return input === '' ? TOO_SHORT : INVALID;
  take(match[1] ?? '');
  return input.slice(match[0].length);
}

function readFraction(input: string, pattern: RegExp, fields: Fields): string | ParsedTime {
  return readBy(input, pattern, (digits) => {
    fields.nanos = Number(digits.slice(0, 9).padEnd(9, '0'));
  });
}

/** Reads an abbreviated or full name, case-insensitively, for either specifier. */
function readName(
  input: string,
  names: readonly string[],
  take: (index: number) => void,
): string | ParsedTime {
  const lower = input.toLowerCase();
  const index = names.findIndex((name) => lower.startsWith(name.slice(0, 3).toLowerCase()));
  const name = names[index];
  if (name === undefined) return input === '' ? TOO_SHORT : INVALID;
  take(index);
  return input.slice(lower.startsWith(name.toLowerCase()) ? name.length : 3);
}

function offsetSeconds(offset: string): number {
  if (/^z$/i.test(offset)) return 0;
  const digits = offset.replaceAll(':', '').slice(1).padEnd(6, '0');
  const seconds =
    Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2, 4)) * 60 + Number(digits.slice(4));
  return offset.startsWith('-') ? -seconds : seconds;
}

function resolve(fields: Fields): ParsedTime {
  if (fields.epochSec !== undefined) {
    return { timeNs: BigInt(fields.epochSec) * NS_PER_SECOND + BigInt(fields.nanos ?? 0) };
  }
  const days = daysOf(fields);
  if (typeof days !== 'number') return days;
  const hour = hourOf(fields);
  if (hour === undefined && fields.minute !== undefined) return NOT_ENOUGH;
  const seconds = (hour ?? 0) * 3600 + (fields.minute ?? 0) * 60 + (fields.second ?? 0);
  const timeNs =
    BigInt(days) * NS_PER_DAY +
    BigInt(seconds - (fields.offsetSec ?? 0)) * NS_PER_SECOND +
    BigInt(fields.nanos ?? 0);
  return BigInt.asIntN(64, timeNs) === timeNs ? { timeNs } : OUT_OF_RANGE;
}

function daysOf({ year, month, day, dayOfYear }: Fields): number | ParsedTime {
  if (year === undefined) return NOT_ENOUGH;
  if (dayOfYear !== undefined) {
    const firstDay = daysFromCivil({ year, month: 1, day: 1 });
    const nextYear = daysFromCivil({ year: year + 1, month: 1, day: 1 });
    const day = firstDay + dayOfYear - 1;
    return day < nextYear ? day : OUT_OF_RANGE;
  }
  if (month === undefined || day === undefined) return NOT_ENOUGH;
  return day > daysInMonth(year, month) ? OUT_OF_RANGE : daysFromCivil({ year, month, day });
}

function hourOf({ hour, hour12, isAfternoon }: Fields): number | undefined {
  if (hour !== undefined || hour12 === undefined || isAfternoon === undefined) return hour;
  return (hour12 % 12) + (isAfternoon ? 12 : 0);
}
