import type { ScopeColumn } from '../../bind/scope.js';
import type { Env } from '../../bind/session.js';
import type { Bound } from '../../bind/types/bound.js';
import type { Expr, OrderByExpr, Select } from '../../parse/ast.js';
import type { FromItem } from '../from/table-factor.js';

/**
 * Narrows the scan of `SELECT DISTINCT ON (tags) … FROM t ORDER BY tags, time DESC` to the last row
 * of each series, which is many times faster than a sort. This requires that WHERE has only
 * conditions that the scan applies itself. Any other condition could exclude a last row and keep an
 * earlier one.
 */
export function narrowToLastRows(
  select: Select,
  orderBy: readonly OrderByExpr[],
  input: {
    readonly from: FromItem | undefined;
    readonly where: Bound | undefined;
    readonly env: Env;
  },
): void {
  const { from, where, env } = input;
  const { distinct } = select;
  if (from?.tableName === undefined || distinct === undefined || typeof distinct === 'string')
    return;
  const { scope, session } = env;
  const keys = distinct.On.map((expr) => session.columnOf(expr, scope));
  const [scan] = keys.map((key) => key?.origin?.scan);
  if (scan === undefined || keys.some((key) => key?.tableColumnKind !== 'tag')) return;
  if (!endsInLatest(orderBy, new Set(keys), (expr) => session.columnOf(expr, scope))) return;
  const isApplied =
    where === undefined ||
    (where.isExact && where.rowConditions?.every(({ kind }) => kind !== 'field'));
  if (!isApplied) return;
  scan.keepLastRows();
}

/**
 * Returns whether ORDER BY has the keys in any order and then `time DESC`; further items do not
 * matter.
 */
function endsInLatest(
  orderBy: readonly OrderByExpr[],
  keys: ReadonlySet<ScopeColumn | undefined>,
  columnOf: (expr: Expr) => ScopeColumn | undefined,
): boolean {
  const time = orderBy[keys.size];
  return (
    orderBy.slice(0, keys.size).every(({ expr }) => keys.has(columnOf(expr))) &&
    time !== undefined &&
    columnOf(time.expr)?.tableColumnKind === 'time' &&
    time.options.asc === false
  );
}
