import type { FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import { isSet, type StoredColumn } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';

/** Maximum number of rows that one call of a filter checks. */
export const FILTER_BATCH_ROWS = 8192;

type Check = (rows: Uint32Array, count: number) => number;

/**
 * Returns a function that filters the first `count` row numbers in `rows` by all conditions, and returns the number
 * of matches. `undefined` means that no row can match.
 */
export function rowFilter(
  loaded: LoadedRows,
  conditions: readonly FieldCondition[],
): Check | undefined {
  const checks: Check[] = [];
  for (const condition of conditions) {
    const column = loaded.column(condition.column.id);
    if (column === undefined) return undefined;
    checks.push(checkOf(column, condition));
  }
  return (rows, count) => {
    let left = count;
    for (const check of checks) left = check(rows, left);
    return left;
  };
}

function checkOf(column: StoredColumn, { op, value }: FieldCondition): Check {
  const { values, validity } = column;
  const meets = meetsOf(op);
  return (rows, count) => {
    let matchCount = 0;
    for (let i = 0; i < count; i++) {
      const row = rows[i] as number;
      if (validity !== undefined && !isSet(validity, row)) continue;
      if (meets(values[row] as number, value)) rows[matchCount++] = row;
    }
    return matchCount;
  };
}

function meetsOf(op: FieldCondition['op']): (a: number, b: number) => boolean {
  switch (op) {
    case '=':
      return (a, b) => a === b;
    case '<>':
      return (a, b) => a !== b;
    case '<':
      return (a, b) => a < b;
    case '<=':
      return (a, b) => a <= b;
    case '>':
      return (a, b) => a > b;
    case '>=':
      return (a, b) => a >= b;
  }
}
