import { arrowTypeName } from '@plinth/tsdb-model/arrow-type-name.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isText, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { floorDiv, NS_PER_DAY } from '@plinth/tsdb-model/time/calendar.js';
import {
  fixedOffsetNs,
  instantOfLocal,
  isTimeZone,
  offsetNsAt,
} from '@plinth/tsdb-model/time/time-zone.js';
import { quoteString } from '../../emit/quote.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  argAt,
  badArguments,
  DATE,
  expectArgCount,
  scalar,
  TIME,
  TIMESTAMP,
} from '../signature.js';
import { binText, literalOrigin, strideOf, timeArg, wideBinText } from './time-bins.js';
import { instantNsText, localNsText, wideLocalText } from './zone-text.js';

/** Functions of the current time and of time zones. Source: query-languages, "Time functions". */
export const TIME_ZONES: readonly FunctionDefinition[] = [
  scalar(['now', 'current_timestamp'], (call) => {
    expectArgCount(call, 0);
    return {
      text: `make_timestamp_ns(CAST(${call.nowNs} AS BIGINT))`,
      type: { kind: 'timestamp', unit: 'ns', zone: '+00:00' },
      constant: { value: call.nowNs, recompute: ({ context }) => context.nowNs },
    };
  }),
  scalar(['current_date', 'today'], (call) => {
    expectArgCount(call, 0);
    const days = Number(floorDiv(call.nowNs, NS_PER_DAY));
    return {
      text: `(DATE '1970-01-01' + ${days})`,
      type: DATE,
      constant: { value: days },
    };
  }),
  scalar(['current_time'], (call) => {
    expectArgCount(call, 0);
    const ns = call.nowNs - floorDiv(call.nowNs, NS_PER_DAY) * NS_PER_DAY;
    return { text: `CAST(${ns} AS BIGINT)`, type: TIME, constant: { value: ns } };
  }),
  scalar(['tz'], bindTz),
  scalar(['to_local_time'], bindToLocalTime),
  // Implements `t AT TIME ZONE 'x'`. The function can also be called by its name, which is
  // harmless.
  scalar(['at_time_zone'], bindAtTimeZone),
  scalar(['date_bin_wallclock'], bindDateBinWallclock),
];

/** Changes the displayed zone of an instant, not the instant. */
function bindTz(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1, 2);
  const time = timeArg(call, 0);
  const zone = call.args.length > 1 ? zoneOf(call) : 'UTC';
  return {
    text: time.text,
    type: { kind: 'timestamp', unit: 'ns', zone },
    ...(time.constant !== undefined && { constant: time.constant }),
  };
}

function zoneOf(call: FunctionCall): string {
  const arg = argAt(call, 1);
  const zone = arg.constant?.value;
  if (typeof zone !== 'string') {
    throw tsdbError(
      'plan_error',
      'Error during planning: tz requires its second argument to be a timezone string, got ' +
        (arg.constant === undefined ? arg.displayName : arrowTypeName(arg.type)),
    );
  }
  if (!isTimeZone(zone)) {
    throw tsdbError(
      'plan_error',
      `Error during planning: TZ requires a valid timezone string, got "${zone}"`,
    );
  }
  return zone;
}

/**
 * A timestamp without zone, or a string, is a wall-clock time of the new zone. A timestamp with a
 * zone is displayed in the new one.
 */
function bindAtTimeZone(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2);
  const zone = zoneOf(call);
  const type: SqlType = { kind: 'timestamp', unit: 'ns', zone };
  const arg = argAt(call, 0);
  const time = isText(arg.type) ? call.coerce(arg, type) : timeArg(call, 0);
  const { constant } = time;
  if (time.type.kind === 'timestamp' && time.type.zone !== undefined) {
    return { text: time.text, type, ...(constant !== undefined && { constant }) };
  }
  return {
    text: `make_timestamp_ns(${instantNsText(`epoch_ns(${time.text})`, zone)})`,
    type,
    ...(typeof constant?.value === 'bigint' && {
      constant: { value: instantOfLocal(zone, constant.value) },
    }),
  };
}

function bindToLocalTime(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1);
  const time = timeArg(call, 0);
  if (time.type.kind !== 'timestamp') throw badArguments(call);
  const { unit, zone } = time.type;
  const value = time.constant?.value;
  return {
    text: `make_timestamp_ns(${localNsText(`epoch_ns(${time.text})`, zone)})`,
    type: { kind: 'timestamp', unit, zone: undefined },
    ...(typeof value === 'bigint' && {
      constant: { value: zone === undefined ? value : value + offsetNsAt(zone, value) },
    }),
  };
}

/** Bins the wall clock of the argument's zone and returns the instant at which each bin started. */
function bindDateBinWallclock(call: FunctionCall): FunctionResult {
  expectArgCount(call, 2, 3);
  const stride = strideOf(call);
  const label = call.name.toUpperCase();
  const time = timeArg(call, 1);
  if (time.type.kind !== 'timestamp') throw badArguments(call);
  if (stride.kind === 'months') {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${label} stride does not support months; use days or shorter units`,
    );
  }
  const originNs = wallclockOrigin(call);
  const { zone } = time.type;
  const instant = `epoch_ns(${time.text})`;
  if (zone === undefined)
    return { text: `make_timestamp_ns(${binText(instant, stride, originNs)})`, type: time.type };
  const local = wideBinText(wideLocalText(instant, zone), stride, originNs);
  if (fixedOffsetNs(zone) !== undefined)
    return {
      text: `make_timestamp_ns(plinth_earliest(${instantNsText(local, zone)}))`,
      type: time.type,
    };
  const offset = `plinth_zone_offset(${instant}, ${quoteString(zone)})`;
  const start = `plinth_bin_instant(${local}, ${quoteString(zone)}, ${stride.widthNs}, ${offset})`;
  return { text: `make_timestamp_ns(plinth_earliest(${start}))`, type: time.type };
}

function wallclockOrigin(call: FunctionCall): bigint {
  if (call.args.length < 3) return 0n;
  const origin = argAt(call, 2);
  if (origin.type.kind === 'timestamp' && origin.type.zone !== undefined) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${call.name.toUpperCase()} origin must be a timestamp without a timezone`,
    );
  }
  return literalOrigin(
    call,
    origin.type.kind === 'timestamp' ? origin : call.coerce(origin, TIMESTAMP),
  );
}
