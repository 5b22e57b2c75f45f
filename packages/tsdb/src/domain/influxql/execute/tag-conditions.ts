import type { TagCondition } from '../../../model/scan.js';
import type { SeriesIndex } from '../../engine/series-index.js';
import { type Filter, filterColumns } from '../plan/filter.js';
import { rowPredicate } from './row-expr.js';

/** Values of a tag that a condition is tried on one by one; beyond it the engine alone decides. */
const MAX_TRIED_VALUES = 20_000;

/** What a condition says about single tags, for the series index. The engine applies the condition all the same. */
export function tagConditions(filter: Filter | undefined, index: SeriesIndex): TagCondition[] {
  if (filter === undefined) return [];
  return conjuncts(filter).flatMap((part) => {
    const condition = conditionOf(part, index);
    return condition === undefined ? [] : [condition];
  });
}

function conjuncts(filter: Filter): Filter[] {
  if (filter.kind !== 'and') return [filter];
  return [...conjuncts(filter.left), ...conjuncts(filter.right)];
}

function conditionOf(filter: Filter, index: SeriesIndex): TagCondition | undefined {
  const refs = filterColumns(filter);
  const [first] = refs;
  if (first === undefined || !refs.every((ref) => ref.isTag && ref.name === first.name))
    return undefined;
  const named = namedValues(filter);
  if (named !== undefined) return conditionIn(first.name, named);
  const values = index.tagValues(first.name);
  if (values.length > MAX_TRIED_VALUES) return undefined;
  const isMet = rowPredicate(filter, () => 0);
  return conditionIn(
    first.name,
    ['', ...values].filter((value) => isMet([value], 0n)),
  );
}

function conditionIn(tag: string, values: readonly string[]): TagCondition {
  return { tag, op: 'in', values: values.map((value) => (value === '' ? undefined : value)) };
}

/** The values of `tag = 'a' OR tag = 'b'`. */
function namedValues(filter: Filter): string[] | undefined {
  if (filter.kind === 'or') {
    const left = namedValues(filter.left);
    const right = left === undefined ? undefined : namedValues(filter.right);
    return left === undefined || right === undefined ? undefined : [...left, ...right];
  }
  if (filter.kind !== 'compare' || filter.op !== '=') return undefined;
  const constant = filter.left.kind === 'constant' ? filter.left : filter.right;
  const column = filter.left.kind === 'constant' ? filter.right : filter.left;
  if (constant.kind !== 'constant' || column.kind !== 'column') return undefined;
  return typeof constant.value === 'string' ? [constant.value] : undefined;
}
