import type { Bound } from '../../bind/types/bound.js';
import type { Select } from '../../parse/ast.js';
import {
  type ExprTree,
  type OrderTree,
  type QueryTree,
  treeOf,
  unverified,
} from '../../plan-tree.js';
import type { FromItem } from '../from/table-factor.js';
import { type BoundGroups, groupsTree } from './group-by.js';
import { limitTree, type RowLimit } from './order-limit.js';
import type { OutputItem } from './projection.js';

/** The bound parts of a SELECT. */
interface SelectParts {
  readonly select: Select;
  readonly from: FromItem | undefined;
  readonly where: Bound | undefined;
  readonly groups: BoundGroups | undefined;
  readonly having: Bound | undefined;
  readonly items: readonly OutputItem[];
  readonly limit: RowLimit;
}

/** Returns a bound SELECT as data. */
export function selectTree(parts: SelectParts, order: readonly OrderTree[]): QueryTree {
  const { select, from, where, groups, having, items } = parts;
  const limit = limitTree(parts.limit);
  if (limit === undefined) return unverified('LIMIT with an expression')();
  if (select.qualify !== undefined) return unverified('QUALIFY')();
  if (typeof select.distinct === 'object') return unverified('DISTINCT ON')();
  if (groups?.hasSets) return unverified('GROUPING SETS, ROLLUP or CUBE')();
  if (groups?.aggregation.gaps !== undefined) return unverified('gap filling')();
  const tree = (bound: Bound | undefined): ExprTree | undefined => bound && treeOf(bound);
  return {
    kind: 'select',
    isDistinct: select.distinct === 'Distinct',
    items: items.map(({ expr }) => treeOf(expr)),
    from: from?.tree(),
    where: tree(where),
    groups: groups && groupsTree(groups),
    having: tree(having),
    ...{ order, limit },
  };
}
