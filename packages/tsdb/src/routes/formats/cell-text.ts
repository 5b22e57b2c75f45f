import type { IntervalValue, SqlType } from '@plinth/tsdb-model/sql-type.js';
import { floorDiv, NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';
import { offsetNsAt } from '@plinth/tsdb-model/time/time-zone.js';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import { type NestedText, nestedText } from './nested/nested-text.js';
import { floatText, shortestFloat32, type WholeFloats } from './number-text.js';
import { durationText, intervalText } from './span-text.js';
import { clockText, dateText, type Fraction, TimeWriter, twoDigits } from './time-text.js';

const SECONDS_PER_DAY = 86_400n;

/** How formats differ in the text of a value. */
export interface TextStyle {
  readonly wholeFloats: WholeFloats;
  /** Suffix of timestamps without a time zone. */
  readonly timeSuffix: 'Z' | '';
  readonly fraction: Fraction;
}

export const SERIES_STYLE: TextStyle = {
  wholeFloats: 'bare',
  timeSuffix: 'Z',
  fraction: 'thousands',
};
/** The style of 1.x servers. */
export const V1_STYLE: TextStyle = { ...SERIES_STYLE, fraction: 'fewest' };
export const ROW_STYLE: TextStyle = {
  wholeFloats: 'with_fraction',
  timeSuffix: '',
  fraction: 'thousands',
};

/** Formats one value, in the representation of the `SqlType` table. The value is not NULL. */
export type CellText = (value: unknown) => string;

/** Returns the formatter of plain text, as in csv and pretty. */
// The assertions follow the `SqlType` table, which defines the value types of results.
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
    case 'list':
    case 'struct':
    case 'map':
      return wholeText(plainSteps(type, style));
    case 'int':
    case 'decimal':
    case 'utf8':
    case 'tag':
      return String;
  }
}

/**
 * Returns the formatter of JSON text: numbers with all digits, and types without a JSON form as
 * strings.
 */
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
    case 'list':
    case 'struct':
    case 'map':
      return wholeText(jsonSteps(type, style));
    default:
      // Only digits, letters and punctuation that need no escapes in JSON.
      return (value) => `"${plain(value)}"`;
  }
}

/** Formats a nested value as plain text, in steps. */
export function plainSteps(type: SqlType, style: TextStyle): NestedText {
  return nestedText(type, {
    ofValue: (valueType) => plainText(valueType, style),
    ofKey: (keyType) => plainText(keyType, style),
    ofName: (name) => name,
    separator: ', ',
    colon: ': ',
    textOfNull: '',
  });
}

export function jsonSteps(type: SqlType, style: TextStyle): NestedText {
  return nestedText(type, {
    ofValue: (valueType) => jsonText(valueType, style),
    ofKey: (keyType) => {
      const text = plainText(keyType, style);
      return (value) => JSON.stringify(text(value));
    },
    ofName: JSON.stringify,
    separator: ',',
    colon: ':',
    textOfNull: 'null',
  });
}

function wholeText(text: NestedText): CellText {
  return (value) => {
    const steps: string[] = [];
    runThrough(text(value, (part) => steps.push(part)));
    return steps.join('');
  };
}

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

/** Formats local times outside the range of 64-bit timestamps. */
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
