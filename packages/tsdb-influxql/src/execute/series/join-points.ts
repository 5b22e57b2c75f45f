import { STEP_ROWS, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { CompiledSelect } from '../../plan/compile/compiled-select.js';
import type { Value } from '../../plan/data-type.js';
import { type CallPlan, isFillable } from '../groups/call-plan.js';
import { fillNumber } from '../groups/fill.js';
import type { TimeBuckets } from '../time-buckets/time-buckets.js';
import type { ValueBudget } from '../value-budget.js';
import type { Points } from './points.js';
import type { rowFunction } from './row-expr.js';

/** The statement whose rows are created. */
export interface Joined {
  readonly select: CompiledSelect;
  readonly plans: readonly CallPlan[];
  readonly timeBuckets: TimeBuckets | undefined;
  /** True if timestamps descend. */
  readonly isBackward: boolean;
  /** Maximum number of rows to create. */
  readonly rowLimit: number | undefined;
  /** Budget that the created rows count against. */
  readonly budget: ValueBudget;
}

export interface Rows {
  readonly times: readonly bigint[];
  readonly columns: readonly (readonly Value[])[];
}

/** Joins the points of all calls into rows by time, in run direction. */
export function* joinPoints(
  statement: Joined,
  calls: readonly Points[],
  otherColumns: readonly (readonly Value[])[],
  functions: readonly ReturnType<typeof rowFunction>[],
): Steps<Rows> {
  const {
    select,
    timeBuckets,
    isBackward,
    rowLimit = Number.POSITIVE_INFINITY,
    budget,
  } = statement;
  const { fill } = select;
  const slots: Value[] = new Array(calls.length + otherColumns.length).fill(null);
  const empty = select.calls.map(({ name, type }) =>
    fill.kind === 'number' ? fillNumber(fill.value, name === 'count' ? 'integer' : type) : null,
  );
  const positions = calls.map(() => 0);
  const times: bigint[] = [];
  const columns: Value[][] = functions.map(() => []);
  const stepRows = Math.ceil(STEP_ROWS / (calls.length + columns.length));
  for (;;) {
    if (times.length % stepRows === stepRows - 1) {
      budget.add(stepRows * (columns.length + 1));
      yield;
    }
    let time: bigint | undefined;
    for (let i = 0; i < calls.length; i++) {
      const next = calls[i]?.times[positions[i] as number];
      if (next === undefined) continue;
      if (time === undefined || (isBackward ? next > time : next < time)) time = next;
    }
    if (time === undefined || times.length === rowLimit) return { times, columns };
    for (let i = 0; i < calls.length; i++) {
      const position = positions[i] as number;
      const points = calls[i] as Points;
      if (points.times[position] === time) {
        slots[i] =
          points.values[position] ??
          (fill.kind === 'number' && timeBuckets !== undefined ? (empty[i] ?? null) : null);
        for (let b = 0; b < otherColumns.length; b++)
          slots[calls.length + b] =
            otherColumns[b]?.[position] ??
            filledOther(statement, b, slots[calls.length + b] ?? null);
        positions[i] = position + 1;
      } else if (fill.kind !== 'previous') slots[i] = empty[i] ?? null;
    }
    times.push(time);
    for (let f = 0; f < functions.length; f++)
      columns[f]?.push(functions[f]?.(slots, time) ?? null);
  }
}

/**
 * Returns the fill value of an additional column of a selector.
 * @param previous value in the preceding row.
 */
function filledOther(
  { select: { fill, columns }, timeBuckets, plans }: Joined,
  index: number,
  previous: Value,
): Value {
  const isFilled = plans.every(({ innermost }) => isFillable(innermost));
  if (timeBuckets === undefined || !isFilled) return null;
  if (fill.kind === 'previous') return previous;
  return fill.kind === 'number' ? fillNumber(fill.value, columns[index]?.type ?? 'unknown') : null;
}
