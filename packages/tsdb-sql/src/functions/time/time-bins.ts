import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { IntervalValue, SqlType } from '@plinth/tsdb-model/sql-type.js';
import { binFixed, binMonths, floorMod, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import type { BoundExpr } from '../../bound-expr.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import { argAt, badArguments, expectArgCount, INTERVAL, scalar, TIMESTAMP } from '../signature.js';

/** A validated positive stride, either in months or in nanoseconds. */
export type Stride =
  | { readonly kind: 'fixed'; readonly widthNs: bigint }
  | { readonly kind: 'months'; readonly width: number };

/** The function `date_bin`. Source: query-languages, "Time functions". */
export const TIME_BINS: readonly FunctionDefinition[] = [scalar(['date_bin'], bindDateBin)];

export const TIME_BIN_MACROS: readonly string[] = [
  `CREATE OR REPLACE MACRO plinth_day_start(ns) AS ns - (ns % ${NS_PER_DAY} + ${NS_PER_DAY}) % ${NS_PER_DAY}`,
  // Day boundaries are exact in microseconds, so DuckDB's calendar loses nothing.
  `CREATE OR REPLACE MACRO plinth_add_months(ns, months) AS
     epoch_us(make_timestamp(plinth_day_start(ns) // 1000) + to_months(CAST(months AS INTEGER))) * 1000
     + (ns - plinth_day_start(ns))`,
  // The first bin starts at the earliest valid time, not before it (ADR 0101). NULL stays NULL.
  `CREATE OR REPLACE MACRO plinth_bin_start(ns, place) AS
     greatest(ns, (${MIN_TIME_NS})::BIGINT + place) - place`,
  `CREATE OR REPLACE MACRO plinth_earliest(ns) AS
     CAST(CASE WHEN ns < (${MIN_TIME_NS})::HUGEINT THEN (${MIN_TIME_NS})::HUGEINT ELSE ns END AS BIGINT)`,
  `CREATE OR REPLACE MACRO plinth_start_of_month(ns, months) AS
     CAST(epoch_us(plinth_date(ns) + to_months(CAST(months AS INTEGER))) AS HUGEINT) * 1000
     + plinth_mod(ns, ${NS_PER_DAY})`,
  `CREATE OR REPLACE MACRO plinth_month_index(ns) AS year(plinth_date(ns)) * 12 + month(plinth_date(ns))`,
  `CREATE OR REPLACE MACRO plinth_bin_steps(distance, width) AS
     distance - (distance % width + width) % width`,
  `CREATE OR REPLACE MACRO plinth_pick_month_bin(ns, origin, width, steps) AS
     CASE WHEN plinth_start_of_month(origin, steps) > ns THEN plinth_start_of_month(origin, steps - width)
     ELSE plinth_start_of_month(origin, steps) END`,
  `CREATE OR REPLACE MACRO plinth_bin_months(ns, width, origin) AS
     plinth_pick_month_bin(ns, origin, width,
       plinth_bin_steps(plinth_month_index(ns) - plinth_month_index(origin), width))`,
];

function bindDateBin(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2, 3);
  const stride = strideOf(call);
  const time = timeArg(call, 1);
  const originNs = call.args.length > 2 ? originAt(call, 2) : 0n;
  const value = time.constant?.value;
  return {
    text: `make_timestamp_ns(${binText(`epoch_ns(${time.text})`, stride, originNs)})`,
    type: time.type,
    ...(typeof value === 'bigint' && {
      constant: { value: fromEarliest(binStart(value, stride, originNs)) },
    }),
  };
}

/** Returns the start of a bin, which may be before the earliest valid time. */
export function binStart(timeNs: bigint, stride: Stride, originNs: bigint): bigint {
  return stride.kind === 'fixed'
    ? binFixed(timeNs, stride.widthNs, originNs)
    : binMonths(timeNs, stride.width, originNs);
}

/** Clamps a bin start to the earliest valid time. */
export const fromEarliest = (startNs: bigint): bigint =>
  startNs < MIN_TIME_NS ? MIN_TIME_NS : startNs;

/**
 * Returns the DuckDB SQL (BIGINT) of the start of the bin that contains `nsText` (BIGINT, repeated
 * in the text).
 */
export function binText(nsText: string, stride: Stride, originNs: bigint): string {
  // Twice the width must fit into 64 bits.
  if (stride.kind === 'fixed' && stride.widthNs <= 2n ** 61n)
    return `plinth_bin_start(${nsText}, ${placeText(nsText, stride.widthNs, originNs)})`;
  return `plinth_earliest(${wideBinText(`CAST(${nsText} AS HUGEINT)`, stride, originNs)})`;
}

/** Like `binText` but with HUGEINT; the start may be before the earliest valid time. */
export function wideBinText(nsText: string, stride: Stride, originNs: bigint): string {
  return stride.kind === 'months'
    ? `plinth_bin_months(${nsText}, ${stride.width}, CAST(${originNs} AS BIGINT))`
    : `(${nsText} - ${placeText(nsText, stride.widthNs, originNs)})`;
}

/**
 * Returns the distance of a timestamp from the start of its bin. `%` takes the sign of the
 * dividend. Adding twice the width minus the origin's offset in its bin makes the dividend
 * positive, so a second `%` gives the distance.
 */
function placeText(nsText: string, widthNs: bigint, originNs: bigint): string {
  const lift = 2n * widthNs - floorMod(originNs, widthNs);
  return `(${nsText} % ${widthNs} + ${lift}) % ${widthNs}`;
}

/** Returns the first argument, an interval or its text, as a stride. */
export function strideOf(call: FunctionCall): Stride {
  const label = call.name.toUpperCase();
  const arg = argAt(call, 0);
  const interval = arg.type.kind === 'interval' ? arg : call.coerce(arg, INTERVAL);
  const value = interval.constant?.value;
  if (value === null || typeof value !== 'object') {
    throw tsdbError(
      'not_implemented',
      `${label} only supports literal values for the stride argument, not arrays`,
    );
  }
  return checkStride(value, label);
}

export function checkStride({ months, days, nanos }: IntervalValue, label: string): Stride {
  const widthNs = BigInt(days) * NS_PER_DAY + nanos;
  if (months !== 0 && widthNs !== 0n) {
    throw tsdbError(
      'not_implemented',
      `${label} stride does not support combination of month, day and nanosecond intervals`,
    );
  }
  if (months === 0 && widthNs === 0n) {
    throw tsdbError('plan_error', `Error during planning: ${label} stride must be non-zero`);
  }
  if (months < 0 || widthNs < 0n) {
    throw tsdbError('plan_error', `Error during planning: ${label} stride must be positive`);
  }
  return months > 0 ? { kind: 'months', width: months } : { kind: 'fixed', widthNs };
}

/** Returns a timestamp argument; dates and strings are converted. */
export function timeArg(call: FunctionCall, index: number): BoundExpr {
  const arg = argAt(call, index);
  if (arg.type.kind === 'timestamp') return arg;
  if (!canBeTime(arg.type)) throw badArguments(call);
  return call.coerce(arg, TIMESTAMP);
}

function canBeTime(type: SqlType): boolean {
  return ['date', 'utf8', 'tag', 'null'].includes(type.kind);
}

const originAt = (call: FunctionCall, index: number): bigint =>
  literalOrigin(call, timeArg(call, index));

export function literalOrigin(call: FunctionCall, origin: BoundExpr): bigint {
  const value = origin.constant?.value;
  if (typeof value === 'bigint') return value;
  throw tsdbError(
    'not_implemented',
    `${call.name.toUpperCase()} only supports literal values for the origin argument, not arrays`,
  );
}
