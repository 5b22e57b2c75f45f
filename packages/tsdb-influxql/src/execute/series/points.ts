import { isStepEnd, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Value } from '../../plan/data-type.js';

/** Rows of one group, ascending by time. */
export interface GroupRows {
  readonly times: ArrayLike<bigint>;
  readonly columns: readonly ArrayLike<Value>[];
}

export function reversedRows({ times, columns }: GroupRows): GroupRows {
  return {
    times: Array.from(times).reverse(),
    columns: columns.map((column) => Array.from(column).reverse()),
  };
}

/** Result of a call for one group, ascending by time. */
export interface Points {
  readonly times: readonly bigint[];
  readonly values: readonly Value[];
  /** Row of the group that each point comes from; set only for selectors. */
  readonly rows?: readonly number[];
  /** Values of the additional columns of each point, one array per column. */
  readonly otherColumns?: readonly (readonly Value[])[];
}

export const NO_POINTS: Points = { times: [], values: [] };

/** Points of a column: its rows that are not NULL. */
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
    times.push(group.times[row] as bigint); // row is below the length
    values.push(value);
    rows.push(row);
  }
  return { times, values, rows, length: times.length };
}
