import type { IntervalValue, SqlType } from '../../model/sql-type.js';
import { floorDiv, NS_PER_SECOND } from '../../model/time/calendar.js';
import { offsetNsAt } from '../../model/time/time-zone.js';
import { floatText, shortestFloat32, type WholeFloats } from './number-text.js';
import { durationText, intervalText } from './span-text.js';
import { clockText, dateText, type Fraction, TimeWriter, twoDigits } from './time-text.js';

const SECONDS_PER_DAY = 86_400n;

/** What differs between formats in the text of one value. */
export interface TextStyle {
  readonly wholeFloats: WholeFloats;
  /** Behind timestamps without a zone of their own. */
  readonly timeSuffix: 'Z' | '';
  readonly fraction: Fraction;
}

export const SERIES_STYLE: TextStyle = {
  wholeFloats: 'bare',
  timeSuffix: 'Z',
  fraction: 'thousands',
};
/** As servers of version 1 write them. */
export const V1_STYLE: TextStyle = { ...SERIES_STYLE, fraction: 'fewest' };
export const ROW_STYLE: TextStyle = {
  wholeFloats: 'with_fraction',
  timeSuffix: '',
  fraction: 'thousands',
};

/** Turns one value, in the form of `SqlType`'s table, into text. The value is not NULL. */
export type CellText = (value: unknown) => string;

/** Plain text, as csv and pretty show it. */
// Each case's assertion is `SqlType`'s table: the engine hands out values of exactly these types.
export function plainText(type: SqlType, style: TextStyle): CellText {
  switch (type.kind) {
    case 'null':
      return () => '';
    case 'boolean':
      return (value) => (value === 1 || value === true ? 'true' : 'false');
    case 'float':
      return type.bits === 32
        ? (value) => floatText(shortestFloat32(value as number), style.wholeFloats)
        : (value) => floatText(value as number, style.wholeFloats);
    case 'binary':
      return (value) => Buffer.from(value as Uint8Array).toString('hex');
    case 'date':
      return (value) => dateText(value as number);
    case 'time':
      return (value) => timeOfDayText(value as bigint);
    case 'timestamp':
      return timestampText(type.zone, style);
    case 'duration':
      return (value) => durationText(value as bigint);
    case 'interval':
      return (value) => intervalText(value as IntervalValue);
    case 'list': {
      const element = nullable(plainText(type.element, style), '');
      return (value) => `[${(value as readonly unknown[]).map(element).join(', ')}]`;
    }
    case 'struct': {
      const fields = type.fields.map(({ name, type: fieldType }) => ({
        name,
        text: nullable(plainText(fieldType, style), ''),
      }));
      return (value) =>
        `{${fields.map(({ name, text }) => `${name}: ${text(memberOf(value, name))}`).join(', ')}}`;
    }
    case 'map': {
      const key = plainText(type.key, style);
      const item = nullable(plainText(type.value, style), '');
      return (value) =>
        `{${(value as readonly [unknown, unknown][]).map(([k, v]) => `${key(k)}: ${item(v)}`).join(', ')}}`;
    }
    case 'int':
    case 'decimal':
    case 'utf8':
    case 'tag':
      return String;
  }
}

/** JSON text: numbers with all their digits, what JSON has no form for as a string. */
export function jsonText(type: SqlType, style: TextStyle): CellText {
  const plain = plainText(type, style);
  switch (type.kind) {
    case 'null':
      return () => 'null';
    case 'boolean':
    case 'int':
    case 'decimal':
      return plain;
    case 'float':
      return (value) => (Number.isFinite(value) ? plain(value) : 'null');
    case 'utf8':
    case 'tag':
      return JSON.stringify;
    case 'list': {
      const element = nullable(jsonText(type.element, style), 'null');
      return (value) => `[${(value as readonly unknown[]).map(element).join(',')}]`;
    }
    case 'struct': {
      const fields = type.fields.map(({ name, type: fieldType }) => ({
        name,
        key: JSON.stringify(name),
        text: nullable(jsonText(fieldType, style), 'null'),
      }));
      return (value) =>
        `{${fields.map(({ name, key, text }) => `${key}:${text(memberOf(value, name))}`).join(',')}}`;
    }
    case 'map': {
      const key = plainText(type.key, style);
      const item = nullable(jsonText(type.value, style), 'null');
      return (value) =>
        `{${(value as readonly [unknown, unknown][]).map(([k, v]) => `${JSON.stringify(key(k))}:${item(v)}`).join(',')}}`;
    }
    default:
      // Digits, letters and punctuation that JSON never escapes.
      return (value) => `"${plain(value)}"`;
  }
}

const nullable =
  (text: CellText, ofNull: string): CellText =>
  (value) =>
    value === null || value === undefined ? ofNull : text(value);

const memberOf = (value: unknown, name: string): unknown =>
  (value as Readonly<Record<string, unknown>>)[name];

function timeOfDayText(nanos: bigint): string {
  return clockText(Number(nanos / 1_000_000_000n), Number(nanos % 1_000_000_000n));
}

function timestampText(zone: string | undefined, style: TextStyle): CellText {
  if (zone === undefined || /^(utc|z|[+-]00:?00)$/i.test(zone)) {
    const writer = new TimeWriter(zone === undefined ? style.timeSuffix : 'Z', style.fraction);
    return (value) => writer.text(value as bigint);
  }
  const writer = new TimeWriter('', style.fraction);
  return (value) => {
    const offsetNs = offsetNsAt(zone, value as bigint);
    const localNs = (value as bigint) + offsetNs;
    const isOrdinary = BigInt.asIntN(64, localNs) === localNs;
    return (isOrdinary ? writer.text(localNs) : outermostText(localNs)) + offsetText(offsetNs);
  };
}

/** Wall clocks go on where times in 64 bits end. */
function outermostText(localNs: bigint): string {
  const second = floorDiv(localNs, NS_PER_SECOND);
  const days = floorDiv(second, SECONDS_PER_DAY);
  const ofDay = Number(second - days * SECONDS_PER_DAY);
  return `${dateText(Number(days))}T${clockText(ofDay, Number(localNs - second * NS_PER_SECOND))}`;
}

function offsetText(offsetNs: bigint): string {
  const minutes = Number(offsetNs / 60_000_000_000n);
  const magnitude = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(magnitude / 60))}:${twoDigits(magnitude % 60)}`;
}
