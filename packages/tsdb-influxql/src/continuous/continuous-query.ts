import { invariant } from '@plinth/kernel';
import type { Expr } from '../ast/expressions.js';
import { printMeasurement, printSelect } from '../ast/print.js';
import type { SelectStatement } from '../ast/select.js';
import type { CreateContinuousQuery } from '../ast/statements.js';
import { TimeBuckets } from '../execute/time-buckets/time-buckets.js';
import { parseQuery } from '../parse/parse-query.js';
import { intervalOf } from '../plan/compile/compile-select.js';
import { splitCondition } from '../plan/condition/split-condition.js';
import type { QueryTiming } from './query-timing.js';

/** A stored continuous query, ready to run. */
export interface ContinuousQuery {
  readonly timing: QueryTiming;
  /** The measurement after INTO. */
  readonly target: string;
  /**
   * Returns the SELECT for the rows from `fromNs` to before `toNs`. This range replaces other time
   * conditions.
   */
  selectFor(range: { readonly fromNs: bigint; readonly toNs: bigint }): string;
}

/** Reads the text of a CREATE CONTINUOUS QUERY statement. Throws `ParseError` and `plan_error`. */
export function readContinuousQuery(text: string): ContinuousQuery {
  const [statement] = parseQuery(text);
  invariant(statement?.kind === 'create_continuous_query', 'not a continuous query');
  const { into } = statement.select;
  return {
    timing: timingOf(statement),
    target: into === undefined ? '' : printMeasurement(into),
    selectFor: (range) => printSelect(restricted(statement.select, range)),
  };
}

function timingOf({ select, everyNs, forNs }: CreateContinuousQuery): QueryTiming {
  const { zone } = select;
  const interval = intervalOf(select, { nowNs: 0n, zone });
  invariant(interval !== undefined, 'the parser requires an interval');
  const timeBuckets = (size: bigint): TimeBuckets =>
    new TimeBuckets({ everyNs: size, offsetNs: interval.offsetNs }, zone);
  const intervals = timeBuckets(interval.everyNs);
  const runs = everyNs === undefined ? intervals : timeBuckets(everyNs);
  return {
    intervalNs: interval.everyNs,
    everyNs: everyNs ?? interval.everyNs,
    forNs,
    intervalStart: (timeNs) => intervals.bucketOf(timeNs).start,
    runStart: (timeNs) => runs.bucketOf(timeNs).start,
    runEnd: (timeNs) => runs.bucketOf(timeNs).end,
  };
}

function restricted(
  select: SelectStatement,
  { fromNs, toNs }: { readonly fromNs: bigint; readonly toNs: bigint },
): SelectStatement {
  const { condition: given, ...others } = select;
  const { rest } = splitCondition(given, { nowNs: 0n, zone: select.zone });
  const range = and(compare('>=', fromNs), compare('<', toNs));
  const condition = rest === undefined ? range : and({ kind: 'paren', inner: rest }, range);
  return { ...others, condition };
}

const compare = (op: '>=' | '<', value: bigint): Expr => ({
  kind: 'binary',
  op,
  left: { kind: 'var_ref', name: 'time' },
  right: { kind: 'integer', value },
});

const and = (left: Expr, right: Expr): Expr => ({ kind: 'binary', op: 'AND', left, right });
