import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { Call, Expr, VarRef } from '../../ast/expressions.js';
import type { Dimension, Field, SelectStatement } from '../../ast/select.js';
import { compileRegex } from '../condition/regex.js';
import type { DataType } from '../data-type.js';
import type { Environment } from '../environment.js';
import { takesType } from '../functions.js';
import { planFailure } from '../plan-failure.js';
import { nameOf } from './column-names.js';
import { findTables } from './find-sources.js';
import { assertPresentNames } from './former-names.js';
import type { BoundSource, ExpandedSelect, SourceColumns } from './source.js';
import { isTimeIn, mergedColumns } from './source-columns.js';

/** Maximum number of columns that the wildcards of a statement may expand to. */
const MAX_COLUMNS = 100_000;

/**
 * Resolves the sources and expands wildcards and regular expressions. Source: query-languages,
 * "Expansion".
 */
export function expandSelect(select: SelectStatement, env: Environment): ExpandedSelect {
  const bound = findSources(select, env);
  const exprs = select.fields.map(({ expr }) => expr);
  assertPresentNames([...exprs, ...select.dimensions, select.condition], bound);
  const columns = mergedColumns(bound);
  const dimensions = select.dimensions
    .flatMap((dimension) => expandDimension(dimension, columns))
    .map((dimension) => withTime(dimension, columns));
  const hasTagWildcard = select.dimensions.some(
    ({ kind }) => kind === 'wildcard' || kind === 'regex',
  );
  const grouped = new Set(dimensions.flatMap((d) => (d.kind === 'var_ref' ? [d.name] : [])));
  let made: readonly Selectable[] | undefined;
  const refs: Refs = () => {
    made ??= selectable(columns, hasTagWildcard ? undefined : grouped);
    return made;
  };
  const fields: Field[] = [];
  for (const field of select.fields) {
    fields.push(...expandField(field, refs, columns));
    if (fields.length > MAX_COLUMNS)
      throw planFailure(
        `wildcards expand to more than ${MAX_COLUMNS} columns; select fewer columns`,
      );
  }
  const { sources: _, ...rest } = select;
  const own = fields.map((field) => ({ ...field, expr: withTime(field.expr, columns) }));
  return { ...rest, fields: own, dimensions, bound };
}

/** Treats `time` in any case as the time column, unless a column has exactly that name. */
function withTime<E extends Expr | Dimension>(expr: E, columns: SourceColumns): E | VarRef {
  if (expr.kind !== 'var_ref' || expr.name === 'time' || !isTimeIn(columns)(expr.name)) return expr;
  return { ...expr, name: 'time' };
}

function findSources(select: SelectStatement, env: Environment): BoundSource[] {
  const bound: BoundSource[] = [];
  const seen = new Set<number>();
  for (const source of select.sources) {
    if (source.kind === 'subquery') {
      bound.push({ kind: 'subquery', select: expandSelect(source.select, env) });
      continue;
    }
    for (const found of findTables(source, env)) {
      // A table that is named twice is read once.
      if (seen.has(found.table.id)) continue;
      seen.add(found.table.id);
      bound.push(found);
    }
  }
  return bound;
}

/** Columns that wildcards expand to. Lazy, because most statements have no wildcard. */
type Refs = () => readonly Selectable[];

interface Selectable {
  readonly ref: VarRef;
  readonly type: DataType;
}

/**
 * Returns the columns that `*` expands to, ascending. Tags are omitted if GROUP BY has a wildcard.
 */
function selectable(
  columns: SourceColumns,
  grouped: ReadonlySet<string> | undefined,
): Selectable[] {
  const refs: Selectable[] = [...columns.fields].map(([name, type]) => ({
    ref: { kind: 'var_ref', name },
    type,
  }));
  if (columns.fields.size > 0 && grouped !== undefined) {
    for (const name of columns.tags) {
      if (grouped.has(name)) continue;
      // A name that is a field in another source refers to the field.
      refs.push({
        ref: columns.fields.has(name)
          ? { kind: 'var_ref', name, cast: 'tag' }
          : { kind: 'var_ref', name },
        type: 'tag',
      });
    }
  }
  return refs.sort((a, b) => compareByteOrder(a.ref.name, b.ref.name));
}

function expandDimension(dimension: Dimension, columns: SourceColumns): Dimension[] {
  if (dimension.kind !== 'wildcard' && dimension.kind !== 'regex') return [dimension];
  const regex = dimension.kind === 'regex' ? compileRegex(dimension.source) : undefined;
  return [...columns.tags]
    .filter((name) => regex?.test(name) ?? true)
    .sort(compareByteOrder)
    .map((name) => ({ kind: 'var_ref', name }));
}

function expandField(field: Field, refs: Refs, columns: SourceColumns): readonly Field[] {
  const { expr } = field;
  switch (expr.kind) {
    case 'wildcard':
    case 'regex':
      // Each column keeps its own name, because one alias cannot name several columns.
      return matching(expr, refs()).map(({ ref }) => ({ expr: ref }));
    case 'call':
      return expandCall(field, expr, columns);
    case 'binary':
    case 'paren':
      refuseWildcards(expr);
      return [field];
    default:
      return [field];
  }
}

function matching(expr: Expr, refs: readonly Selectable[]): Selectable[] {
  if (expr.kind === 'regex') {
    const regex = compileRegex(expr.source);
    return refs.filter(({ ref }) => regex.test(ref.name));
  }
  if (expr.kind !== 'wildcard') return [];
  return refs.filter(
    ({ type }) => expr.of === undefined || (type === 'tag') === (expr.of === 'tag'),
  );
}

/** Expands a wildcard in the innermost nested call. */
function expandCall(field: Field, call: Call, columns: SourceColumns): readonly Field[] {
  const innermost = innermostCall(call);
  const [argument] = innermost.args;
  if (argument?.kind !== 'wildcard' && argument?.kind !== 'regex') {
    return [field];
  }
  if (argument.kind === 'wildcard' && argument.of === 'tag') {
    throw planFailure(`unable to use tag as wildcard in ${innermost.name}()`);
  }
  const name = field.alias ?? nameOf(call);
  const fields = selectable(columns, undefined).filter(
    ({ ref, type }) =>
      type !== 'tag' &&
      takesType(innermost.name, type) &&
      (argument.kind !== 'regex' || compileRegex(argument.source).test(ref.name)),
  );
  return fields.map(({ ref }) => ({
    expr: replaceArgument(call, innermost, ref),
    alias: `${name}_${ref.name}`,
  }));
}

function innermostCall(call: Call): Call {
  const [first] = call.args;
  return first?.kind === 'call' ? innermostCall(first) : call;
}

function replaceArgument(call: Call, innermost: Call, ref: VarRef): Call {
  if (call === innermost) return { ...call, args: [ref, ...call.args.slice(1)] };
  const [first, ...rest] = call.args;
  return { ...call, args: [replaceArgument(first as Call, innermost, ref), ...rest] }; // innermost is reached through first arguments
}

function refuseWildcards(expr: Expr): void {
  switch (expr.kind) {
    case 'wildcard':
      throw planFailure('unable to use wildcard in a binary expression');
    case 'regex':
      throw planFailure('unable to use regex in a binary expression');
    case 'paren':
      refuseWildcards(expr.inner);
      return;
    case 'binary':
      refuseWildcards(expr.left);
      refuseWildcards(expr.right);
      return;
    case 'call': {
      const [argument] = expr.args;
      if (argument?.kind === 'wildcard')
        throw planFailure(`unsupported expression with wildcard: ${expr.name}()`);
      if (argument?.kind === 'regex')
        throw planFailure(`unsupported expression with regex field: ${expr.name}()`);
      return;
    }
    default:
  }
}
