import type { ScanDraft } from '../../bind/scan-draft.js';
import type { ScopeColumn } from '../../bind/scope.js';
import type { Env } from '../../bind/session.js';
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
  from: FromItem | undefined,
  env: Env,
): void {
  const { distinct } = select;
  if (from?.tableName === undefined || distinct === undefined || typeof distinct === 'string')
    return;
  const { scope, session } = env;
  const keys = distinct.On.map((expr) => session.columnOf(expr, scope));
  const [scan] = keys.map((key) => key?.origin?.scan);
  if (scan === undefined || keys.some((key) => key?.source !== 'tag')) return;
  if (!endsInLatest(orderBy, new Set(keys), (expr) => session.columnOf(expr, scope))) return;
  if (select.selection !== undefined && !isAppliedByScan(select.selection, scan, env)) return;
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

/** Conditions whose facts say all that they say; an OR, for one, may know only a part of it. */
const EXACT_OPS = new Set(['Eq', 'Gt', 'GtEq', 'Lt', 'LtEq']);

/** True when the scan itself applies the whole condition: a chain of ANDs over bounds of time and values of tags. */
function isAppliedByScan(expr: Expr, scan: ScanDraft, env: Env): boolean {
  if ('Nested' in expr) return isAppliedByScan(expr.Nested, scan, env);
  if ('BinaryOp' in expr && expr.BinaryOp.op === 'And') {
    const { left, right } = expr.BinaryOp;
    return isAppliedByScan(left, scan, env) && isAppliedByScan(right, scan, env);
  }
  const isExact =
    'InList' in expr ||
    'Between' in expr ||
    ('BinaryOp' in expr && EXACT_OPS.has(String(expr.BinaryOp.op)));
  if (!isExact) return false;
  const facts = env.session.bindExpr(expr, env).facts ?? [];
  const expected = 'Between' in expr ? 2 : 1;
  return facts.length === expected && facts.every((fact) => fact.scan === scan);
}
