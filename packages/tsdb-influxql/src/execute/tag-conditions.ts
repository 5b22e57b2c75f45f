import type { ColumnQuery, FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import type { TagCondition } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';
import { type Filter, filterColumns } from '../plan/condition/filter.js';
import { typeOfKind } from '../plan/data-type.js';
import { alternatives } from './filter-text.js';
import { rowPredicate } from './series/row-expr.js';

/**
 * Maximum number of tag values on which a condition is evaluated; above it only DuckDB applies the
 * condition.
 */
const MAX_TRIED_VALUES = 20_000;
/**
 * Maximum number of evaluation steps over all values; these steps take a few tens of milliseconds.
 */
const MAX_TRIED_STEPS = 1_000_000;

/**
 * Extracts conditions on single tags for the series index. DuckDB still applies the full condition.
 */
export function tagConditions(filter: Filter | undefined, index: SeriesLookup): TagCondition[] {
  if (filter === undefined) return [];
  return conjuncts(filter).flatMap((part) => {
    const condition = conditionOf(part, index);
    return condition === undefined ? [] : [condition];
  });
}

/**
 * Returns the conditions of a column query, or `undefined` if the filter cannot be expressed
 * there.
 */
export function columnQueryConditions(
  filter: Filter | undefined,
  table: TableSchema,
  index: SeriesLookup,
): Pick<ColumnQuery, 'tagConditions' | 'fieldConditions'> | undefined {
  const ofTags: TagCondition[] = [];
  const ofFields: FieldCondition[] = [];
  for (const part of filter === undefined ? [] : conjuncts(filter)) {
    const ofTag = conditionOf(part, index);
    const ofField = ofTag === undefined ? fieldCondition(part, table) : undefined;
    if (ofTag !== undefined) ofTags.push(ofTag);
    else if (ofField !== undefined) ofFields.push(ofField);
    else return undefined;
  }
  return { tagConditions: ofTags, fieldConditions: ofFields };
}

/**
 * Matches `field > 1`, with the field in its own type and a number that a double represents
 * exactly.
 */
function fieldCondition(filter: Filter, table: TableSchema): FieldCondition | undefined {
  if (filter.kind !== 'compare' || filter.left.kind !== 'column') return undefined;
  if (filter.right.kind !== 'constant') return undefined;
  const column = table.columns.get(filter.left.ref.name);
  const value = Number(filter.right.value);
  const isNumber = typeof filter.right.value === 'number' || typeof filter.right.value === 'bigint';
  if (column === undefined || typeOfKind(column.kind) !== filter.left.ref.type) return undefined;
  if (!isNumber || !Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER)
    return undefined;
  return { column, op: filter.op === '!=' ? '<>' : filter.op, value };
}

function conjuncts(filter: Filter): Filter[] {
  if (filter.kind !== 'and') return [filter];
  return [...conjuncts(filter.left), ...conjuncts(filter.right)];
}

function conditionOf(filter: Filter, index: SeriesLookup): TagCondition | undefined {
  const refs = filterColumns(filter);
  const [first] = refs;
  if (first === undefined || !refs.every((ref) => ref.isTag && ref.name === first.name))
    return undefined;
  const named = namedValues(filter);
  if (named !== undefined) return conditionIn(first.name, named);
  if (index.valueCount(first.name) > MAX_TRIED_VALUES) return undefined;
  const values = index.tagValues(first.name);
  if (!isQuick(filter, values)) return undefined;
  const isMet = rowPredicate(filter, () => 0);
  return conditionIn(
    first.name,
    ['', ...values].filter((value) => isMet([value], 0n)),
  );
}

/** Returns whether the condition can be evaluated on all values without blocking the event loop. */
function isQuick(filter: Filter, values: readonly string[]): boolean {
  const { count, perCharacter } = stepsOf(filter);
  if (perCharacter === 0) return count * values.length <= MAX_TRIED_STEPS;
  const length = values.reduce((sum, value) => sum + value.length, 0);
  return count * values.length + perCharacter * length <= MAX_TRIED_STEPS;
}

/** Returns the number of steps per value and per character of a value. */
function stepsOf(filter: Filter): { readonly count: number; readonly perCharacter: number } {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const [left, right] = [stepsOf(filter.left), stepsOf(filter.right)];
      return {
        count: left.count + right.count,
        perCharacter: left.perCharacter + right.perCharacter,
      };
    }
    case 'match':
      return { count: 1, perCharacter: filter.matcher.stepsPerCharacter };
    default:
      return { count: 1, perCharacter: 0 };
  }
}

function conditionIn(tag: string, values: readonly string[]): TagCondition {
  return { tag, op: 'in', values: values.map((value) => (value === '' ? undefined : value)) };
}

/** Returns the values of `tag = 'a' OR tag = 'b'`. */
function namedValues(filter: Filter): string[] | undefined {
  const named = alternatives(filter).map(namedValue);
  return named.every((value) => value !== undefined) ? named : undefined;
}

function namedValue(filter: Filter): string | undefined {
  if (filter.kind !== 'compare' || filter.op !== '=') return undefined;
  const constant = filter.left.kind === 'constant' ? filter.left : filter.right;
  const column = filter.left.kind === 'constant' ? filter.right : filter.left;
  if (constant.kind !== 'constant' || column.kind !== 'column') return undefined;
  return typeof constant.value === 'string' ? constant.value : undefined;
}
