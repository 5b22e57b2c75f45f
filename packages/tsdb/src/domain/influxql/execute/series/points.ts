import { isStepEnd, type Steps } from '../../../../model/time-sliced-task.js';
import type { Value } from '../../plan/data-type.js';

/** Rows of one group, ascending by time. NULL is `null`. */
export interface GroupRows {
  readonly times: ArrayLike<bigint>;
  readonly columns: readonly ArrayLike<Value>[];
}

/** What a call gives for one group, ascending by time. */
export interface Points {
  readonly times: readonly bigint[];
  readonly values: readonly Value[];
  /** Row of the group that each point is; only of selectors. */
  readonly rows?: readonly number[];
  /** Values beside the point, when they come with it: one array a column. */
  readonly beside?: readonly (readonly Value[])[];
}

export const NO_POINTS: Points = { times: [], values: [] };

/** The points of a column: its rows that are not NULL. */
export interface ColumnPoints {
  readonly times: readonly bigint[];
  readonly values: readonly Exclude<Value, null>[];
  readonly rows: readonly number[];
  readonly length: number;
}

export function* pointsOfColumn(group: GroupRows, column: ArrayLike<Value>): Steps<ColumnPoints> {
  const times: bigint[] = [];
  const values: Exclude<Value, null>[] = [];
  const rows: number[] = [];
  for (let row = 0; row < group.times.length; row++) {
    if (isStepEnd(row)) yield;
    const value = column[row];
    if (value === null || value === undefined) continue;
    times.push(group.times[row] as bigint); // below its length
    values.push(value);
    rows.push(row);
  }
  return { times, values, rows, length: times.length };
}
