import type { ScopeColumn } from '../../bind/scope.js';
import type { Env } from '../../bind/session.js';
import type { Bound } from '../../bind/types/bound.js';
import type { Expr, OrderByExpr, Select } from '../../parse/ast.js';
import type { FromItem } from '../from/table-factor.js';

/**
 * `SELECT DISTINCT ON (tags) … FROM t ORDER BY tags, time DESC` needs no row but the last of each series: says so to the
 * scan, which finds it many times faster than a sort of all rows. Only where WHERE cannot take away a last row and leave an
 * earlier one: it may hold conditions that the scan applies itself, nothing else.
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
  if (scan === undefined || keys.some((key) => key?.source !== 'tag')) return;
  if (!endsInLatest(orderBy, new Set(keys), (expr) => session.columnOf(expr, scope))) return;
  const isApplied =
    where === undefined || (where.isExact && where.facts?.every(({ kind }) => kind !== 'field'));
  if (!isApplied) return;
  scan.keepLastRows();
}

/** The keys in any order, then `time DESC`; what follows does not matter. */
function endsInLatest(
  orderBy: readonly OrderByExpr[],
  keys: ReadonlySet<ScopeColumn | undefined>,
  columnOf: (expr: Expr) => ScopeColumn | undefined,
): boolean {
  const time = orderBy[keys.size];
  return (
    orderBy.slice(0, keys.size).every(({ expr }) => keys.has(columnOf(expr))) &&
    time !== undefined &&
    columnOf(time.expr)?.source === 'time' &&
    time.options.asc === false
  );
}
