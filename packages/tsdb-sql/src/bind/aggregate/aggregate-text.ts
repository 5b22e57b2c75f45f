import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { FunctionCall, OrderItem } from '../../functions/function-definition.js';
import { type BoundWindow, direction, orderText } from './windows.js';

/** Modifiers of a call around its arguments. */
export interface CallPieces {
  readonly distinct: boolean;
  readonly ignoreNulls: boolean;
  readonly filter: string | undefined;
  readonly window: BoundWindow | undefined;
  readonly orderBy: readonly OrderItem[];
}

/**
 * Aggregates for which, in windows, DuckDB would store one value per partition outside its memory
 * limit and copy it for each row.
 */
const OF_STATES: ReadonlySet<string> = new Set(['list', 'string_agg']);

/** Aggregates that include rows with a NULL argument; all others skip these rows. */
const OF_NULLS: ReadonlySet<string> = new Set(['list', 'first', 'last']);

/** Order-dependent aggregates for which DuckDB can select one row without sorting. */
const OF_PLACES: ReadonlySet<string> = new Set([
  'first',
  'last',
  'first_value',
  'last_value',
  'nth_value',
  'lag',
  'lead',
]);

/** Window functions, which process the rows of the window unchanged. */
const OF_WINDOWS: ReadonlySet<string> = new Set([
  ...['first_value', 'last_value', 'nth_value', 'lag', 'lead', 'ntile'],
  ...['row_number', 'rank', 'dense_rank', 'percent_rank', 'cume_dist'],
]);

/** Makes an argument NULL where a condition is false. `count(*)` counts rows. */
function where(test: string, arg: string): string {
  return `CASE WHEN ${test} THEN ${arg === '*' ? '1' : arg} END`;
}

type AggregateOptions = NonNullable<Parameters<FunctionCall['aggregate']>[2]>;

/**
 * Returns the DuckDB call of an aggregate or window function. It never uses aggregates that sort
 * rows. When such a statement runs out of memory, DuckDB 1.5.6 does not release their memory (ADR
 * 0155).
 */
export function aggregateText(
  duckDbFunction: string,
  argTexts: readonly string[],
  pieces: CallPieces,
  options: AggregateOptions,
): string {
  if (pieces.filter !== undefined && OF_WINDOWS.has(duckDbFunction))
    throw tsdbError(
      'plan_error',
      'Error during planning: FILTER clause can only be used with aggregate window functions.',
    );
  if (options.isFromEnd) return fromEndText(duckDbFunction, argTexts, pieces, options);
  const isOrdered = pieces.orderBy.length > 0 && options.orderBy === undefined;
  // Each row would sort the list of its complete partition again.
  if (isOrdered && pieces.window !== undefined && OF_STATES.has(duckDbFunction))
    throw tsdbError('not_implemented', 'ORDER BY within the arguments of an aggregate with OVER');
  if (isOrdered && duckDbFunction === 'list') return sortedList(argTexts, pieces, options);
  if (isOrdered && duckDbFunction === 'string_agg') {
    const [value = '', delimiter = ''] = argTexts;
    return `list_aggregate(${sortedList([value], pieces, options)}, 'string_agg', ${delimiter})`;
  }
  const order = isOrdered && OF_PLACES.has(duckDbFunction) ? orderText(pieces.orderBy) : '';
  return callText(duckDbFunction, argTexts, order, pieces, options);
}

/** Counts the rows of the frame in reverse order; the order among ties is unspecified. */
function fromEndText(
  duckDbFunction: string,
  argTexts: readonly string[],
  pieces: CallPieces,
  options: AggregateOptions,
): string {
  const order = pieces.window?.order ?? [];
  if (order.length === 0)
    throw tsdbError(
      'plan_error',
      'Error during planning: nth_value with a negative position requires ORDER BY in its window',
    );
  const reversed = order.map((item) => ({
    ...item,
    descending: !item.descending,
    nullsFirst: !item.nullsFirst,
  }));
  return callText(duckDbFunction, argTexts, orderText(reversed), pieces, options);
}

/** Collects the values of the rows and sorts them at the end. */
function sortedList(
  [value = '']: readonly string[],
  pieces: CallPieces,
  options: AggregateOptions,
): string {
  const values = listText(value, value, pieces, options);
  const [first] = pieces.orderBy;
  if (options.distinct ?? pieces.distinct) {
    if (first === undefined || pieces.orderBy.some(({ expr }) => expr.text !== value))
      throw tsdbError(
        'plan_error',
        'Error during planning: In an aggregate with DISTINCT, ORDER BY expressions must appear in argument list',
      );
    return `list_sort(${values}, ${directionArgs(first)})`;
  }
  const isOne = pieces.orderBy.length === 1 && first !== undefined;
  const keyParts = pieces.orderBy.map((item) => `${item.expr.text}, '${direction(item)}'`);
  const key = isOne ? first.expr.text : `create_sort_key(${keyParts.join(', ')})`;
  const keys = listText(key, value, pieces, options);
  return `list_select(${values}, list_grade_up(${keys}, ${isOne ? directionArgs(first) : "'ASC'"}))`;
}

function listText(
  of: string,
  value: string,
  pieces: CallPieces,
  options: AggregateOptions,
): string {
  const { ignoreNulls, window } = pieces;
  const present = ignoreNulls && window !== undefined ? `${value} IS NOT NULL` : undefined;
  const conditions = [options.filter, present].filter((part) => part !== undefined);
  const filter = conditions.length === 0 ? {} : { filter: conditions.join(' AND ') };
  return callText('list', [of], '', { ...pieces, ignoreNulls: false }, { ...options, ...filter });
}

const directionArgs = ({ descending, nullsFirst }: OrderItem): string =>
  `'${descending ? 'DESC' : 'ASC'}', 'NULLS ${nullsFirst ? 'FIRST' : 'LAST'}'`;

function callText(
  duckDbFunction: string,
  argTexts: readonly string[],
  order: string,
  pieces: CallPieces,
  options: AggregateOptions,
): string {
  const distinct = (options.distinct ?? pieces.distinct) ? 'DISTINCT ' : '';
  const orderPart = order === '' ? '' : ` ORDER BY ${order}`;
  const nulls = pieces.ignoreNulls && pieces.window !== undefined ? ' IGNORE NULLS' : '';
  const conditions = [pieces.filter, options.filter].filter((part) => part !== undefined);
  const test = conditions.join(' AND ');
  const { window } = pieces;
  // DuckDB allocates space for the arguments of all aggregates per FILTER: 900 of them take 2 GB.
  const isInArgument = test !== '' && window === undefined && !OF_NULLS.has(duckDbFunction);
  const place = duckDbFunction === 'arg_min' || duckDbFunction === 'arg_max' ? 1 : 0;
  const args = isInArgument
    ? argTexts.map((arg, i) => (i === place ? where(test, arg) : arg))
    : argTexts;
  const filter = test === '' || isInArgument ? '' : ` FILTER (WHERE ${test})`;
  const over =
    window === undefined
      ? ''
      : ` OVER ${OF_STATES.has(duckDbFunction) ? window.rowByRow : window.text}`;
  return `${duckDbFunction}(${distinct}${args.join(', ')}${orderPart}${nulls})${filter}${over}`;
}
