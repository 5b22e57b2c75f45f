import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { Expr } from '../../ast/expressions.js';
import type { Dimension } from '../../ast/select.js';
import { planFailure } from '../plan-failure.js';
import type { BoundSource } from './source.js';

/** Returns the error for the former name of a table. */
export const renamedMeasurement = (before: string, after: string): Error =>
  planFailure(`measurement '${before}' was renamed to '${after}'; use the new name`);

/**
 * Throws `column_renamed` if an expression contains the former name of a column, which is not a
 * current name in any source. Unknown names are valid in InfluxQL, so the result would be empty.
 */
export function assertPresentNames(
  exprs: readonly (Expr | Dimension | undefined)[],
  sources: readonly BoundSource[],
): void {
  const tables = sources.flatMap((source) => (source.kind === 'table' ? [source.table] : []));
  if (tables.every(({ formerColumns }) => formerColumns === undefined)) return;
  for (const column of exprs.flatMap((expr) => (expr === undefined ? [] : [...namesIn(expr)]))) {
    if (tables.some(({ columns }) => columns.has(column))) continue;
    for (const { name: table, formerColumns } of tables) {
      const renamedTo = formerColumns?.get(column);
      if (renamedTo !== undefined) throw tsdbError('column_renamed', { table, column, renamedTo });
    }
  }
}

/** The columns that an expression names. */
export function* namesIn(expr: Expr | Dimension): Iterable<string> {
  switch (expr.kind) {
    case 'var_ref':
      yield expr.name;
      return;
    case 'distinct':
      yield expr.column;
      return;
    case 'paren':
      yield* namesIn(expr.inner);
      return;
    case 'binary':
      yield* namesIn(expr.left);
      yield* namesIn(expr.right);
      return;
    case 'call':
      for (const arg of expr.args) yield* namesIn(arg);
      return;
    default:
  }
}
