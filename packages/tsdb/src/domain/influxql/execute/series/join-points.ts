import { STEP_ROWS, type Steps } from '../../../../model/time-sliced-task.js';
import type { CompiledSelect } from '../../plan/compile/compiled-select.js';
import type { Value } from '../../plan/data-type.js';
import { type CallPlan, isFillable } from '../groups/call-plan.js';
import { fillNumber } from '../groups/fill.js';
import type { ValueBudget } from '../value-budget.js';
import type { Windows } from '../windows/windows.js';
import type { Points } from './points.js';
import type { rowFunction } from './row-expr.js';

/** The statement whose rows are made. */
export interface Joined {
  readonly select: CompiledSelect;
  readonly plans: readonly CallPlan[];
  readonly windows: Windows | undefined;
  /** Times fall. */
  readonly isBackward: boolean;
  /** More rows are not looked at. */
  readonly rowLimit: number | undefined;
  /** What the rows count for. */
  readonly made: ValueBudget;
}

export interface Rows {
  readonly times: readonly bigint[];
  readonly columns: readonly (readonly Value[])[];
}

/** Points of all calls side by side: rows by time, in the direction of the run. */
export function* joinPoints(
  statement: Joined,
  calls: readonly Points[],
  besides: readonly (readonly Value[])[],
  functions: readonly ReturnType<typeof rowFunction>[],
): Steps<Rows> {
  const { select, windows, isBackward, rowLimit = Number.POSITIVE_INFINITY, made } = statement;
  const { fill } = select;
  const slots: Value[] = new Array(calls.length + besides.length).fill(null);
  const empty = select.calls.map(({ name, type }) =>
    fill.kind === 'number' ? fillNumber(fill.value, name === 'count' ? 'integer' : type) : null,
  );
  const positions = calls.map(() => 0);
  const times: bigint[] = [];
  const columns: Value[][] = functions.map(() => []);
  const stepRows = Math.ceil(STEP_ROWS / (calls.length + columns.length));
  for (;;) {
    if (times.length % stepRows === stepRows - 1) {
      made.add(stepRows * (columns.length + 1));
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
          (fill.kind === 'number' && windows !== undefined ? (empty[i] ?? null) : null);
        for (let b = 0; b < besides.length; b++)
          slots[calls.length + b] =
            besides[b]?.[position] ?? filledBeside(statement, b, slots[calls.length + b] ?? null);
        positions[i] = position + 1;
      } else if (fill.kind !== 'previous') slots[i] = empty[i] ?? null;
    }
    times.push(time);
    for (let f = 0; f < functions.length; f++)
      columns[f]?.push(functions[f]?.(slots, time) ?? null);
  }
}

/** What stands in a column beside a selector where its row has no value. @param previous in the row before. */
function filledBeside(
  { select: { fill, columns }, windows, plans }: Joined,
  index: number,
  previous: Value,
): Value {
  const isFilled = plans.every(({ leaf }) => isFillable(leaf));
  if (windows === undefined || !isFilled) return null;
  if (fill.kind === 'previous') return previous;
  return fill.kind === 'number' ? fillNumber(fill.value, columns[index]?.type ?? 'unknown') : null;
}
