import type { Expr } from '../ast/expressions.js';
import { COMPARISONS } from '../parse/parse-expr.js';
import type { SourceColumns } from '../plan/compile/source.js';

/**
 * Replaces comparisons of a tag with a non-string value, such as `tag = false`, with true. InfluxDB
 * 1.x ignores them in SHOW.
 */
export function comparableOnly(condition: Expr, columns: SourceColumns): Expr {
  if (condition.kind === 'paren') {
    return { kind: 'paren', inner: comparableOnly(condition.inner, columns) };
  }
  if (condition.kind !== 'binary') return condition;
  const { op } = condition;
  if (op === 'AND' || op === 'OR') {
    const left = comparableOnly(condition.left, columns);
    return { ...condition, left, right: comparableOnly(condition.right, columns) };
  }
  const sides = [unwrapped(condition.left), unwrapped(condition.right)];
  const isIgnored =
    COMPARISONS.has(op) &&
    sides.some((side) => isTag(side, columns)) &&
    sides.some(({ kind }) => NO_TEXTS.has(kind));
  return isIgnored ? { kind: 'boolean', value: true } : condition;
}

const NO_TEXTS: ReadonlySet<Expr['kind']> = new Set([
  'boolean',
  'integer',
  'unsigned',
  'number',
  'duration',
]);

const unwrapped = (expr: Expr): Expr => (expr.kind === 'paren' ? unwrapped(expr.inner) : expr);

const isTag = (expr: Expr, { tags, fields }: SourceColumns): boolean =>
  expr.kind === 'var_ref' &&
  (expr.cast === 'tag' ||
    (expr.cast === undefined && tags.has(expr.name) && !fields.has(expr.name)));
