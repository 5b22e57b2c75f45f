import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ScopeColumn } from '../../bind/scope.js';
import { BOOLEAN } from '../../bind/types/bound.js';
import { comparisonType } from '../../bind/types/common-type.js';
import { type ExprTree, type Lazy, operatorTree, treeOf } from '../../plan-tree.js';
import type { FromItem } from './table-factor.js';

/** Returns the names that both sides have, in the order of the left side. */
export function sharedNames(left: FromItem, right: FromItem): readonly string[] {
  const names = new Set(right.visible.map((column) => column.name));
  return left.visible.map((column) => column.name).filter((name) => names.has(name));
}

/**
 * Returns condition and columns of a join over equal names. Each shared column appears once, at its
 * position in the left side.
 */
export function joinUsing(options: {
  readonly left: FromItem;
  readonly right: FromItem;
  readonly names: readonly string[];
  /** Side whose value is used; with `both`, either may be absent. */
  readonly keeps: 'left' | 'right' | 'both';
}): {
  readonly on: string;
  readonly tree: Lazy<ExprTree | undefined>;
  readonly visible: readonly ScopeColumn[];
} {
  const { left, right, names, keeps } = options;
  const pairs = names.map((name) => [only(left, name), only(right, name)] as const);
  for (const [a, b] of pairs) {
    a.use();
    b.use();
    if (comparisonType(a.type, b.type) !== undefined) continue;
    throw tsdbError(
      'plan_error',
      `Error during planning: Cannot compare column ${a.name} of both sides of the join`,
    );
  }
  const merged = new Map(pairs.map(([a, b]) => [a.name, mergeColumns(a, b, keeps)]));
  return {
    on: pairs.map(([a, b]) => `${a.text} = ${b.text}`).join(' AND ') || 'true',
    tree: () =>
      pairs
        .map(([a, b]) => operatorTree('=', [shown(a), shown(b)], BOOLEAN)())
        .reduceRight<ExprTree | undefined>(bothTrue, undefined),
    visible: [
      ...left.visible.map((column) => merged.get(column.name) ?? column),
      ...right.visible.filter((column) => !merged.has(column.name)),
    ],
  };
}

const shown = (column: ScopeColumn) => ({ ...column, displayName: column.name });

const bothTrue = (right: ExprTree | undefined, left: ExprTree): ExprTree =>
  right === undefined
    ? left
    : { kind: 'operator', operator: 'AND', operands: [left, right], type: BOOLEAN };

function mergeColumns(
  a: ScopeColumn,
  b: ScopeColumn,
  keeps: 'left' | 'right' | 'both',
): ScopeColumn {
  if (keeps === 'left') return a;
  if (keeps === 'right') return b;
  const { origin: _origin, ...rest } = a;
  return {
    ...rest,
    text: `coalesce(${a.text}, ${b.text})`,
    tree: () => ({
      ...{ kind: 'call', name: 'coalesce', args: [a, b].map((side) => treeOf(shown(side))) },
      ...{ isDistinct: false, filter: undefined, window: undefined, type: a.type },
    }),
    use: () => [a, b].forEach((side) => void side.use()),
  };
}

function only(side: FromItem, name: string): ScopeColumn {
  const found = side.visible.filter((column) => column.name === name);
  const [column] = found;
  if (column === undefined) throw tsdbError('plan_error', `Schema error: No field named ${name}.`);
  if (found.length > 1) {
    throw tsdbError('plan_error', `Schema error: Ambiguous reference to unqualified field ${name}`);
  }
  return column;
}
