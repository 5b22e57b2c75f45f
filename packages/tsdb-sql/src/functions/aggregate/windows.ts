import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isNumeric, type SqlType, valueType } from '@plinth/tsdb-model/sql-type.js';
import type { FunctionCall, FunctionDefinition, FunctionResult } from '../function-definition.js';
import {
  argAt,
  badArguments,
  expectArgCount,
  FLOAT64,
  INT64,
  INTERVAL,
  intArg,
  UINT64,
  windowFunction,
} from '../signature.js';

/** Functions that require OVER. Source: query-languages, "Window functions". */
export const WINDOWS: readonly FunctionDefinition[] = [
  ...['row_number', 'rank', 'dense_rank'].map((name) =>
    windowFunction([name], ranking(name, 'UBIGINT', UINT64)),
  ),
  ...['percent_rank', 'cume_dist'].map((name) =>
    windowFunction([name], ranking(name, 'DOUBLE', FLOAT64)),
  ),
  windowFunction(['ntile'], (call) => {
    expectArgCount(call, 1);
    const count = argAt(call, 0).constant?.value;
    if (typeof count !== 'bigint' || count < 1n) {
      throw tsdbError('plan_error', 'Error during planning: NTILE requires a positive integer');
    }
    return { text: `CAST(${call.aggregate('ntile', [String(count)])} AS UBIGINT)`, type: UINT64 };
  }),
  windowFunction(['lag'], (call) => bindShift(call, 'lag')),
  windowFunction(['lead'], (call) => bindShift(call, 'lead')),
  windowFunction(['difference'], (call) => bindDifference(call)),
  windowFunction(['non_negative_difference'], (call) => nonNegative(bindDifference(call))),
  windowFunction(['derivative'], (call) => bindDerivative(call)),
  windowFunction(['non_negative_derivative'], (call) => nonNegative(bindDerivative(call))),
];

function ranking(name: string, duckDbTypeName: string, type: SqlType) {
  return (call: FunctionCall): FunctionResult => {
    expectArgCount(call, 0);
    return { text: `CAST(${call.aggregate(name, [])} AS ${duckDbTypeName})`, type };
  };
}

function bindShift(call: FunctionCall, duckDbFunction: 'lag' | 'lead'): FunctionResult {
  expectArgCount(call, 1, 3);
  const value = argAt(call, 0);
  const texts = [value.text];
  if (call.args.length > 1) texts.push(intArg(call, 1).text);
  if (call.args.length > 2) texts.push(call.coerce(argAt(call, 2), valueType(value.type)).text);
  return { text: call.aggregate(duckDbFunction, texts), type: valueType(value.type) };
}

/**
 * Binds the difference from the preceding row. Unsigned values are subtracted as signed ones
 * because they may decrease.
 */
function bindDifference(call: FunctionCall): FunctionResult {
  expectArgCount(call, 1);
  const { type, text } = argAt(call, 0);
  if (!isNumeric(type)) throw badArguments(call);
  const value = type.kind === 'int' ? call.coerce(argAt(call, 0), INT64).text : text;
  return {
    text: `(${value} - ${call.aggregate('lag', [value])})`,
    type: type.kind === 'int' ? INT64 : type,
  };
}

/** Binds the change per unit of time: `derivative(x, INTERVAL '1 second', time)`. */
function bindDerivative(call: FunctionCall): FunctionResult {
  expectArgCount(call, 3);
  if (!isNumeric(argAt(call, 0).type)) throw badArguments(call);
  const value = call.coerce(argAt(call, 0), FLOAT64).text;
  const time = argAt(call, 2);
  if (time.type.kind !== 'timestamp') throw badArguments(call);
  const unit = call.coerce(argAt(call, 1), INTERVAL).constant?.value;
  if (unit === null || typeof unit !== 'object' || unit.months !== 0) {
    throw tsdbError(
      'plan_error',
      `Error during planning: ${call.name} unit must be an interval literal without months`,
    );
  }
  const unitNs = BigInt(unit.days) * 86_400_000_000_000n + unit.nanos;
  if (unitNs <= 0n)
    throw tsdbError('plan_error', `Error during planning: ${call.name} unit must be positive`);
  const ns = `epoch_ns(${time.text})`;
  const rise = `(${value} - ${call.aggregate('lag', [value])})`;
  const elapsed = `(CAST(${ns} - ${call.aggregate('lag', [ns])} AS DOUBLE) / ${unitNs})`;
  return { text: `(${rise} / ${elapsed})`, type: FLOAT64 };
}

function nonNegative({ text, type }: FunctionResult): FunctionResult {
  return { text: `CASE WHEN ${text} >= 0 THEN ${text} END`, type };
}
