import {
  civilFromNs,
  daysFromCivil,
  floorDiv,
  floorMod,
  isoWeek,
  NS_PER_DAY,
} from '@plinth/tsdb-model/time/calendar.js';
import type { Value } from '../../plan/data-type.js';

/**
 * Calls a scalar function; a NULL argument returns NULL. Source: query-languages, "Scalar functions".
 */
export function callScalar(name: string, args: readonly Value[]): Value {
  const [first, second] = args;
  if (first === null || first === undefined || second === null) return null;
  if (typeof first !== 'number' && typeof first !== 'bigint') return null;
  if (second !== undefined && typeof second !== 'number' && typeof second !== 'bigint') return null;
  if (typeof first === 'bigint') {
    // The absolute value of the smallest integer wraps to that integer.
    if (name === 'abs') return first < 0n ? BigInt.asIntN(64, -first) : first;
    if (name === 'ceil' || name === 'floor' || name === 'round') return first;
    if (name === 'pow' && typeof second === 'bigint') return integerPower(first, second);
  }
  return ofFloats(name, Number(first), Number(second ?? 0));
}

function integerPower(base: bigint, exponent: bigint): Value {
  // InfluxDB converts the double if the result exceeds 64 bits.
  const value = Number(base) ** Number(exponent);
  return Number.isFinite(value) ? BigInt.asIntN(64, BigInt(Math.trunc(value))) : null;
}

function ofFloats(name: string, x: number, y: number): number | null {
  switch (name) {
    case 'abs':
      return Math.abs(x);
    case 'acos':
      return Math.acos(x);
    case 'asin':
      return Math.asin(x);
    case 'atan':
      return Math.atan(x);
    case 'atan2':
      return Math.atan2(x, y);
    case 'ceil':
      return Math.ceil(x);
    case 'cos':
      return Math.cos(x);
    case 'exp':
      return Math.exp(x);
    case 'floor':
      return Math.floor(x);
    case 'ln':
      return Math.log(x);
    case 'log':
      return Math.log(x) / Math.log(y);
    case 'log2':
      return Math.log2(x);
    case 'log10':
      return Math.log10(x);
    case 'pow':
      return x ** y;
    case 'round':
      return x < 0 ? -Math.round(-x) : Math.round(x);
    case 'sin':
      return Math.sin(x);
    case 'sqrt':
      return Math.sqrt(x);
    case 'tan':
      return Math.tan(x);
    default:
      return null;
  }
}

/** Computes `date_part(part, time)`. */
export function datePart(part: string, timeNs: bigint): bigint {
  const { year, month, day } = civilFromNs(timeNs);
  const days = Number(floorDiv(timeNs, NS_PER_DAY));
  const ofDay = floorMod(timeNs, NS_PER_DAY);
  const weekday = (((days + 4) % 7) + 7) % 7;
  const second = (ofDay / 1_000_000_000n) % 60n;
  const ofMinute = ofDay % 60_000_000_000n;
  switch (part) {
    case 'year':
      return BigInt(year);
    case 'quarter':
      return BigInt(Math.floor((month - 1) / 3) + 1);
    case 'month':
      return BigInt(month);
    case 'week':
      return BigInt(isoWeek(days).week);
    case 'day':
      return BigInt(day);
    case 'hour':
      return ofDay / 3_600_000_000_000n;
    case 'minute':
      return (ofDay / 60_000_000_000n) % 60n;
    case 'second':
      return second;
    case 'millisecond':
      return ofMinute / 1_000_000n;
    case 'microsecond':
      return ofMinute / 1_000n;
    case 'nanosecond':
      return ofMinute;
    case 'dow':
      return BigInt(weekday);
    case 'isodow':
      return BigInt(weekday === 0 ? 7 : weekday);
    case 'doy':
      return BigInt(days - daysFromCivil({ year, month: 1, day: 1 }) + 1);
    default:
      return floorDiv(timeNs, 1_000_000_000n);
  }
}
