import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { NS_PER_DAY, NS_PER_HOUR } from '@plinth/tsdb-model/time/calendar.js';
import { instantOfLocal, offsetNsAt } from '@plinth/tsdb-model/time/time-zone.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  argAt,
  badArguments,
  constantText,
  expectArgCount,
  FLOAT64,
  INT32,
  INT64,
  scalar,
} from '../signature.js';
import { binStart, binText, fromEarliest, type Stride, timeArg, wideBinText } from './time-bins.js';
import { instantNsText, localNsText, wideLocalText } from './zone-text.js';

/** A Monday, the origin of week bins. */
const MONDAY_NS = -3n * NS_PER_DAY;

const fixed = (widthNs: bigint): Stride => ({ kind: 'fixed', widthNs });
const months = (width: number): Stride => ({ kind: 'months', width });

/** Truncation is binning from 1970; weeks start on Monday. */
const TRUNCATION = new Map<string, Stride>([
  ['year', months(12)],
  ['quarter', months(3)],
  ['month', months(1)],
  ['week', fixed(7n * NS_PER_DAY)],
  ['day', fixed(NS_PER_DAY)],
  ['hour', fixed(NS_PER_HOUR)],
  ['minute', fixed(60_000_000_000n)],
  ['second', fixed(1_000_000_000n)],
  ['millisecond', fixed(1_000_000n)],
  ['microsecond', fixed(1000n)],
  ['nanosecond', fixed(1n)],
]);

/**
 * Parts of a wall-clock time in nanoseconds. `datePart` uses DuckDB's calendar, `clockPart`
 * computes them.
 */
const PARTS = new Map<string, { readonly type: SqlType; text(ns: string): string }>([
  ...datePart('year', 'year'),
  ...datePart('isoyear', 'isoyear'),
  ...datePart('quarter', 'quarter'),
  ...datePart('month', 'month'),
  ...datePart('week', 'week'),
  ...datePart('day', 'day'),
  ...datePart('doy', 'dayofyear'),
  ...datePart('dow', 'dayofweek'),
  // Monday is 0. Source: DataFusion, scalar functions, "date_part".
  ['isodow', { type: INT32, text: (ns) => `CAST(isodow(plinth_date(${ns})) - 1 AS INTEGER)` }],
  ...clockPart('hour', NS_PER_DAY, NS_PER_HOUR),
  ...clockPart('minute', NS_PER_HOUR, 60_000_000_000n),
  ...clockPart('second', 60_000_000_000n, 1_000_000_000n),
  ...clockPart('millisecond', 60_000_000_000n, 1_000_000n),
  ...clockPart('microsecond', 60_000_000_000n, 1000n),
  // 59.999999999 s in nanoseconds exceed 32 bits.
  ['nanosecond', { type: INT64, text: (ns) => `plinth_mod(${ns}, 60000000000)` }],
]);

const PART_ALIASES = new Map<string, string>(
  Object.entries({
    years: 'year',
    quarters: 'quarter',
    months: 'month',
    weeks: 'week',
    isoweek: 'week',
    days: 'day',
    hours: 'hour',
    minutes: 'minute',
    seconds: 'second',
    milliseconds: 'millisecond',
    microseconds: 'microsecond',
    nanoseconds: 'nanosecond',
  }),
);

/**
 * Functions that truncate timestamps or return parts of them. Source: query-languages, "Time
 * functions".
 */
export const TIME_PARTS: readonly FunctionDefinition[] = [
  scalar(['date_trunc', 'datetrunc'], bindDateTrunc),
  scalar(['date_part', 'datepart', 'extract'], bindDatePart),
];

export const TIME_PART_MACROS: readonly string[] = [
  'CREATE OR REPLACE MACRO plinth_mod(ns, width) AS (ns % width + width) % width',
  // Divides first, because the start of the first representable day does not fit into 64 bits.
  `CREATE OR REPLACE MACRO plinth_date(ns) AS
     DATE '1970-01-01' + CAST(ns // ${NS_PER_DAY} - CAST(ns % ${NS_PER_DAY} < 0 AS INTEGER) AS INTEGER)`,
];

/** Returns the bins of `date_trunc`; `undefined` for an unknown part. */
export function truncationOf(part: string) {
  const stride = TRUNCATION.get(part);
  return stride && { stride, originNs: part === 'week' ? MONDAY_NS : 0n };
}

/** Returns the name of a part in the singular. */
export const partOf = (written: string): string => {
  const name = written.toLowerCase();
  return PART_ALIASES.get(name) ?? name;
};

function bindDateTrunc(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2);
  const part = partAt(call);
  const truncation = truncationOf(part);
  if (truncation === undefined) {
    throw tsdbError('plan_error', `Execution error: Unsupported date_trunc granularity: ${part}`);
  }
  const { stride, originNs } = truncation;
  const time = timeArg(call, 1);
  const zone = time.type.kind === 'timestamp' ? time.type.zone : undefined;
  const ns = `epoch_ns(${time.text})`;
  const start =
    zone === undefined
      ? binText(ns, stride, originNs)
      : `plinth_earliest(${instantNsText(wideBinText(wideLocalText(ns, zone), stride, originNs), zone)})`;
  const value = time.constant?.value;
  return {
    text: `make_timestamp_ns(${start})`,
    type: time.type,
    ...(typeof value === 'bigint' && {
      constant: { value: fromEarliest(truncConstant(value, stride, originNs, zone)) },
    }),
  };
}

function truncConstant(timeNs: bigint, stride: Stride, originNs: bigint, zone: string | undefined) {
  if (zone === undefined) return binStart(timeNs, stride, originNs);
  const localNs = timeNs + offsetNsAt(zone, timeNs);
  return instantOfLocal(zone, binStart(localNs, stride, originNs));
}

function bindDatePart(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2);
  const part = partAt(call);
  const arg = argAt(call, 1);
  if (arg.type.kind === 'interval') return intervalPart(call, part, arg.text);
  const isCount = arg.type.kind === 'duration' || arg.type.kind === 'time';
  const time = isCount ? arg : timeArg(call, 1);
  const zone = time.type.kind === 'timestamp' ? time.type.zone : undefined;
  const instant = isCount ? time.text : `epoch_ns(${time.text})`;
  if (part === 'epoch') {
    return { text: `(CAST(${instant} AS DOUBLE) / 1000000000)`, type: FLOAT64 };
  }
  const definition = PARTS.get(part);
  if (definition === undefined) {
    throw tsdbError('plan_error', `Execution error: Date part '${part}' not supported`);
  }
  return { text: definition.text(localNsText(instant, zone)), type: definition.type };
}

/**
 * Months, days and nanoseconds of an interval are separate parts. Source: Arrow, `date_part` of
 * intervals.
 */
function intervalPart(call: FunctionCall, part: string, text: string): FunctionResult {
  const [months_, days, nanos] = ['months', 'days', 'nanos'].map(
    (field) => `struct_extract(${text}, '${field}')`,
  );
  const texts = new Map([
    ['year', `${months_} // 12`],
    ['month', `${months_} % 12`],
    ['week', `${days} // 7`],
    ['day', `${days}`],
    ['hour', `${nanos} // ${NS_PER_HOUR}`],
    ['minute', `(${nanos} // 60000000000) % 60`],
    ['second', `(${nanos} // 1000000000) % 60`],
    ['millisecond', `(${nanos} % 60000000000) // 1000000`],
    ['microsecond', `(${nanos} % 60000000000) // 1000`],
  ]);
  if (part === 'epoch') {
    return { text: `(CAST(plinth_interval_ns(${text}) AS DOUBLE) / 1000000000)`, type: FLOAT64 };
  }
  const found = texts.get(part);
  if (found === undefined) throw badArguments(call);
  return { text: `CAST(${found} AS INTEGER)`, type: INT32 };
}

function partAt(call: FunctionCall): string {
  return partOf(constantText(call, 0, 'its first argument'));
}

function datePart(
  part: string,
  duckDbFunction: string,
): [string, { type: SqlType; text(ns: string): string }][] {
  const text = (ns: string) => `CAST(${duckDbFunction}(plinth_date(${ns})) AS INTEGER)`;
  return [[part, { type: INT32, text }]];
}

function clockPart(
  part: string,
  cycleNs: bigint,
  unitNs: bigint,
): [string, { type: SqlType; text(ns: string): string }][] {
  const text = (ns: string) => `CAST(plinth_mod(${ns}, ${cycleNs}) // ${unitNs} AS INTEGER)`;
  return [[part, { type: INT32, text }]];
}
