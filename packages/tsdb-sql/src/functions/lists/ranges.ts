import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { isText, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import { duckDbType } from '../../emit/duckdb-type.js';
import type { FunctionCall, FunctionResult } from '../function-definition.js';
import {
  argAt,
  badArguments,
  DATE,
  expectArgCount,
  INT64,
  INTERVAL,
  intArg,
  isInteger,
  TIMESTAMP,
} from '../signature.js';
import { maxListLength } from './list-macros.js';
import { timeSteps } from './time-steps.js';

/**
 * Binds a range of integers, or of dates or timestamps with an interval step. `isInclusive`
 * includes the end.
 */
export function bindRange(call: FunctionCall, isInclusive: boolean): FunctionResult {
  expectArgCount(call, 1, 3);
  if (call.args.every(({ type }) => isInteger(type) || type.kind === 'null')) {
    const bounds = call.args.map((_, index) => intArg(call, index).text);
    const [start = '0', stop = '0', step = '1'] = bounds.length === 1 ? ['0', ...bounds] : bounds;
    const end = isInclusive ? `${stop} + sign(${step})` : stop;
    return {
      text: `plinth_range(${start}, ${end}, ${step}, ${maxListLength(call.args)})`,
      type: { kind: 'list', element: INT64 },
    };
  }
  expectArgCount(call, 3);
  return bindTimeRange(call, isInclusive);
}

/** Dates use steps of complete days. Strings are dates unless the other end is a timestamp. */
function bindTimeRange(call: FunctionCall, isInclusive: boolean): FunctionResult {
  const ends = [argAt(call, 0), argAt(call, 1)];
  if (!ends.every(({ type }) => isText(type) || TIME_KINDS.has(type.kind)))
    throw badArguments(call);
  const element = ends.find(({ type }) => type.kind === 'timestamp')?.type ?? DATE;
  const type: SqlType = { kind: 'list', element };
  const step = call.coerce(argAt(call, 2), INTERVAL).constant?.value;
  if (step === null || ends.some((end) => end.constant?.value === null))
    return { text: `CAST(NULL AS ${duckDbType(type)})`, type };
  if (typeof step !== 'object') throw badArguments(call);
  if (element.kind === 'date' && step.months === 0 && step.days === 0) {
    throw tsdbError(
      'plan_error',
      'Error during planning: Cannot generate date range less than 1 day.',
    );
  }
  const [startNs = '', endNs = ''] = ends.map((end) => {
    const time = element.kind === 'date' ? call.coerce(end, DATE) : end;
    return `epoch_ns(${(time.type.kind === 'timestamp' ? time : call.coerce(time, TIMESTAMP)).text})`;
  });
  const steps = timeSteps({
    name: call.name,
    startNs,
    endNs,
    step: element.kind === 'date' ? { ...step, nanos: 0n } : step,
    type:
      element.kind === 'timestamp' ? element : { kind: 'timestamp', unit: 'ns', zone: undefined },
  });
  const counted = `${isInclusive ? 'generate_series' : 'range'}(${steps.args.join(', ')})`;
  const bounded = `plinth_bounded_list(${steps.countText}, ${maxListLength(call.args)}, ${counted})`;
  const item = steps.item('plinth_step');
  const value = element.kind === 'date' ? `CAST(${item} AS DATE)` : item;
  return { text: `list_transform(${bounded}, lambda plinth_step: ${value})`, type };
}

const TIME_KINDS: ReadonlySet<SqlType['kind']> = new Set(['timestamp', 'date', 'null']);
