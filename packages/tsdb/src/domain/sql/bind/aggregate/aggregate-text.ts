import type { FunctionCall, OrderItem } from '../../functions/function-definition.js';
import { type BoundWindow, orderText } from './windows.js';

/** What stands around the arguments of a call. */
export interface CallPieces {
  readonly distinct: boolean;
  readonly ignoreNulls: boolean;
  readonly filter: string | undefined;
  readonly window: BoundWindow | undefined;
  readonly orderBy: readonly OrderItem[];
}

/** The engine would keep one value of a whole partition outside of its memory and copy it for each row. */
const OF_STATES: ReadonlySet<string> = new Set(['list', 'string_agg']);

/** All others pass over rows where an argument is NULL. */
const OF_NULLS: ReadonlySet<string> = new Set(['list', 'first', 'last']);

/** An argument that is NULL where a condition does not hold. `count(*)` counts rows. */
function where(test: string, arg: string): string {
  const [, distinct = '', value = arg] = /^(DISTINCT )(.*)$/s.exec(arg) ?? [];
  return `${distinct}CASE WHEN ${test} THEN ${value === '*' ? '1' : value} END`;
}

/** A call of an aggregate or window function of the engine. */
export function aggregateText(
  engineFunction: string,
  argTexts: readonly string[],
  pieces: CallPieces,
  options: NonNullable<Parameters<FunctionCall['aggregate']>[2]>,
): string {
  const distinct = pieces.distinct && !options.ignoreDistinct ? 'DISTINCT ' : '';
  const order = options.orderBy ?? orderText(pieces.orderBy);
  const orderPart = order === '' ? '' : ` ORDER BY ${order}`;
  const nulls = pieces.ignoreNulls && pieces.window !== undefined ? ' IGNORE NULLS' : '';
  const conditions = [pieces.filter, options.filter].filter((part) => part !== undefined);
  const test = conditions.join(' AND ');
  const { window } = pieces;
  // For each FILTER the engine keeps room for the arguments of all aggregates: 900 of them take 2 GB.
  const isInArgument = test !== '' && window === undefined && !OF_NULLS.has(engineFunction);
  const place = /^arg_m(?:in|ax)$/.test(engineFunction) ? 1 : 0;
  const args = isInArgument
    ? argTexts.map((arg, i) => (i === place ? where(test, arg) : arg))
    : argTexts;
  const filter = test === '' || isInArgument ? '' : ` FILTER (WHERE ${test})`;
  const over =
    window === undefined
      ? ''
      : ` OVER ${OF_STATES.has(engineFunction) ? window.rowByRow : window.text}`;
  return `${engineFunction}(${distinct}${args.join(', ')}${orderPart}${nulls})${filter}${over}`;
}
