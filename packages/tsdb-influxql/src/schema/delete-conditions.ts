import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { TagCondition } from '@plinth/tsdb-model/scan.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Expr } from '../ast/expressions.js';
import { rowPredicate } from '../execute/series/row-expr.js';
import { type Filter, filterColumns } from '../plan/condition/filter.js';
import { planFailure } from '../plan/plan-failure.js';

/** Maximum number of alternatives that the condition of a deletion may expand to. */
const MAX_ALTERNATIVES = 1000;
/** A regular expression may take a millisecond. */
const VALUES_PER_STEP = 8;

const FIELDS = 'fields not supported in WHERE clause during deletion';
const ON_TAGS: ReadonlySet<string> = new Set(['=', '!=', '=~', '!~']);
const NO_TEXT: ReadonlySet<Expr['kind']> = new Set([
  'integer',
  'unsigned',
  'number',
  'boolean',
  'duration',
  'binary',
  'call',
]);

/**
 * Rejects conditions that no tag can satisfy. Otherwise a table without the column would report
 * success without deleting anything.
 * @param condition the condition without its time bounds.
 */
export function checkTagCondition(condition: Expr): void {
  if (condition.kind === 'paren') checkTagCondition(condition.inner);
  if (condition.kind !== 'binary') return;
  const { op, left, right } = condition;
  if (op === 'AND' || op === 'OR') {
    checkTagCondition(left);
    checkTagCondition(right);
  } else if (!ON_TAGS.has(op) || NO_TEXT.has(left.kind) || NO_TEXT.has(right.kind)) {
    throw tsdbError('plan_error', FIELDS);
  }
}

/**
 * Expands a condition on tags to alternatives, each of which is a conjunction.
 * @param valuesOf returns the distinct values of a tag.
 */
export function* alternatives(
  filter: Filter | undefined,
  valuesOf: (tag: string) => readonly string[],
): Steps<readonly (readonly TagCondition[])[]> {
  if (filter === undefined) return [[]];
  switch (filter.kind) {
    case 'constant':
      return filter.value ? [[]] : [];
    case 'or':
      return bounded([
        ...(yield* alternatives(filter.left, valuesOf)),
        ...(yield* alternatives(filter.right, valuesOf)),
      ]);
    case 'and': {
      const left = yield* alternatives(filter.left, valuesOf);
      const right = yield* alternatives(filter.right, valuesOf);
      return bounded(left.flatMap((a) => right.map((b) => [...a, ...b])));
    }
    default:
      return [[yield* conditionOf(filter, valuesOf)]];
  }
}

function bounded<T>(items: readonly T[]): readonly T[] {
  if (items.length <= MAX_ALTERNATIVES) return items;
  throw planFailure(
    `the condition expands to more than ${MAX_ALTERNATIVES} alternatives; use separate statements`,
  );
}

function* conditionOf(
  filter: Filter,
  valuesOf: (tag: string) => readonly string[],
): Steps<TagCondition> {
  const refs = filterColumns(filter);
  const [first] = refs;
  if (first === undefined || refs.length !== 1 || !first.isTag) {
    throw tsdbError('plan_error', FIELDS);
  }
  const isMet = rowPredicate(filter, () => 0);
  // For `!=`, lists the excluded values, so that values that are not known yet match as well.
  const isMetByOthers = isMet([''], 0n) && filter.kind === 'compare' && filter.op === '!=';
  const values: (string | undefined)[] = [];
  if (isMet([''], 0n) !== isMetByOthers) values.push(undefined);
  const known = valuesOf(first.name);
  for (let i = 0; i < known.length; i++) {
    if (i % VALUES_PER_STEP === 0) yield;
    const value = known[i] as string; // below its length
    if (isMet([value], 0n) !== isMetByOthers) values.push(value);
  }
  return { tag: first.name, op: isMetByOthers ? 'not_in' : 'in', values };
}
