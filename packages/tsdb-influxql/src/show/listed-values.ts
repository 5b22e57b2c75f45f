import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';
import type { Expr } from '../ast/expressions.js';
import { rowPredicate } from '../execute/series/row-expr.js';
import type { SourceColumns, TableSource } from '../plan/compile/source.js';
import { columnsOf } from '../plan/compile/source-columns.js';
import { buildFilter, filterColumns } from '../plan/condition/filter.js';
import { planFailure } from '../plan/plan-failure.js';

/** Result column of `SHOW TAG VALUES` that its condition may use. */
const LISTED = 'value';

export interface ListedValues {
  /** Remaining condition on the rows. */
  readonly rest: Expr | undefined;
  /**
   * Returns whether the value of a tag in a series is listed; `undefined` means that all values
   * are.
   */
  readonly isListed: ((ordinal: number, tag: string) => boolean) | undefined;
}

/**
 * Splits off conditions on the listed value, as in `SHOW TAG VALUES ... WHERE value =~ /re/` of
 * 1.8. A tag or string field named `value` takes precedence.
 * @param condition the condition without its time bounds.
 */
export function splitListedValues(
  condition: Expr | undefined,
  { source, index }: { readonly source: TableSource; readonly index: SeriesLookup },
): ListedValues {
  const columns = columnsOf(source);
  const isText = columns.tags.has(LISTED) || columns.fields.get(LISTED) === 'string';
  const parts = condition === undefined || isText ? [] : conjuncts(condition);
  const about = joined(parts.filter(comparesListed));
  if (about === undefined) return { rest: condition, isListed: undefined };
  return {
    rest: joined(parts.filter((part) => !comparesListed(part))),
    isListed: listedTest(about, columns, index),
  };
}

function listedTest(
  condition: Expr,
  { fields, tags }: SourceColumns,
  index: SeriesLookup,
): ListedValues['isListed'] {
  const others = new Map(fields);
  others.delete(LISTED);
  const filter = buildFilter(condition, { fields: others, tags: new Set([...tags, LISTED]) });
  const refs = filterColumns(filter);
  if (refs.some(({ isTag }) => !isTag)) {
    throw planFailure(
      'OR cannot combine a condition on "value" with a condition on a field; use AND or separate statements',
    );
  }
  const isMet = rowPredicate(filter, (ref) => refs.findIndex(({ name }) => name === ref.name));
  return (ordinal, tag) =>
    isMet(
      refs.map(({ name }) => index.tagValue(ordinal, name === LISTED ? tag : name) ?? null),
      0n,
    );
}

function conjuncts(expr: Expr): Expr[] {
  if (expr.kind === 'paren') return conjuncts(expr.inner);
  if (expr.kind !== 'binary' || expr.op !== 'AND') return [expr];
  return [...conjuncts(expr.left), ...conjuncts(expr.right)];
}

const joined = (parts: readonly Expr[]): Expr | undefined =>
  parts.length === 0
    ? undefined
    : parts.reduce((left, right) => ({ kind: 'binary', op: 'AND', left, right }));

/**
 * Returns whether the listed value is compared with a string or regular expression. Other
 * comparisons may refer to a numeric field.
 */
function comparesListed(expr: Expr): boolean {
  if (expr.kind === 'paren') return comparesListed(expr.inner);
  if (expr.kind !== 'binary') return false;
  const { left, right } = expr;
  if (expr.op === 'AND' || expr.op === 'OR') return comparesListed(left) || comparesListed(right);
  return (isListedRef(left) && isText(right)) || (isListedRef(right) && isText(left));
}

const isListedRef = (expr: Expr): boolean =>
  expr.kind === 'var_ref' && expr.name === LISTED && expr.cast === undefined;

const isText = ({ kind }: Expr): boolean => kind === 'string' || kind === 'regex';
