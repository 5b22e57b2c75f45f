import type {
  CompiledSelect,
  CompiledSource,
  OutputField,
} from '../../plan/compile/compiled-select.js';
import { COLUMN_SLOTS } from '../../plan/compile/slots.js';
import type { DataType, Value } from '../../plan/data-type.js';
import { fillNumber } from '../groups/fill.js';
import type { Session } from '../session.js';
import { piecesOf } from './limit-rows.js';
import type { RowPiece } from './read-rows.js';
import { rowFunction } from './row-expr.js';
import { compareTags, type Series } from './series.js';
import { type SourceRowsRequest, sourceRows } from './source-rows.js';
import { exactValues } from './vector-values.js';

/** Runs a SELECT without aggregates. */
export async function* runRaw(
  select: CompiledSelect,
  name: string,
  sources: readonly CompiledSource[],
  session: Session,
): AsyncGenerator<Series, void, undefined> {
  const request = rawRequest(select, sources);
  if (request === undefined) return;
  const convert = resultRowConverter(select);
  for await (const piece of sourceRows(request, session)) {
    for (const some of piecesOf(piece, select.fields.length)) yield { name, ...convert(some) };
  }
}

/**
 * Returns the rows to read for a SELECT without aggregates, or `undefined` if no source has any of its
 * columns.
 */
export function rawRequest(
  select: CompiledSelect,
  sources: readonly CompiledSource[],
): SourceRowsRequest | undefined {
  const requiredColumns = select.columns.filter(({ isTag, type }) => !isTag && type !== 'unknown');
  const used = sources.filter((source) =>
    source.kind === 'subquery'
      ? givesOneOf(source.select, select.columns)
      : hasOneOf(source, requiredColumns),
  );
  if (used.length === 0) return undefined;
  const rowLimit = select.limit === undefined ? undefined : select.limit + select.offset;
  return {
    select,
    sources: used,
    refs: select.columns,
    requiredColumns,
    minNs: select.minNs,
    isDescending: select.isDescending,
    rowLimit,
    lastRowsOnly:
      rowLimit === 1 && select.isDescending && isEveryRowWanted(select, used, requiredColumns),
  };
}

/**
 * Returns the column that a field passes through unchanged, or `undefined` for a computed field.
 */
export function plainColumnOf({ expr }: OutputField): number | undefined {
  return expr.kind === 'slot' && expr.index >= COLUMN_SLOTS ? expr.index - COLUMN_SLOTS : undefined;
}

type TableSource = Extract<CompiledSource, { kind: 'table' }>;

function givesOneOf(inner: CompiledSelect, refs: CompiledSelect['columns']): boolean {
  return refs.some(
    ({ name, isTag }) =>
      inner.fields.some((field) => field.name === name) ||
      (isTag && inner.groupTags.includes(name)),
  );
}

function hasOneOf(source: TableSource, requiredColumns: CompiledSelect['columns']): boolean {
  return requiredColumns.some(({ name }) => {
    const kind = source.table.columns.get(name)?.kind;
    return kind !== undefined && kind !== 'tag' && kind !== 'time';
  });
}

/**
 * Returns whether the last row of each series always matches: it has a field, and the condition
 * uses no fields.
 */
function isEveryRowWanted(
  select: CompiledSelect,
  sources: readonly CompiledSource[],
  requiredColumns: CompiledSelect['columns'],
): boolean {
  const [source] = sources;
  if (sources.length !== 1 || source?.kind !== 'table' || select.condition !== undefined)
    return false;
  const names = new Set(requiredColumns.map(({ name }) => name));
  return [...source.table.columns.values()].every(
    ({ kind, name }) => kind === 'tag' || kind === 'time' || names.has(name),
  );
}

/** Returns a function that converts source rows to result rows. */
function resultRowConverter(select: CompiledSelect): (piece: RowPiece) => Omit<Series, 'name'> {
  const { fields, fill } = select;
  const fillPrevious = fill.kind === 'previous' ? previousFiller() : undefined;
  const plain = fields.map(plainColumnOf);
  const functions = fields.map(({ expr }) => rowFunction(expr, 0));
  return ({ tags, times, columns: read }) => {
    const columns =
      fill.kind === 'number'
        ? read.map((column, i) =>
            filledColumn(column, select.columns[i]?.type ?? 'unknown', fill.value),
          )
        : (fillPrevious?.(tags, read) ?? read);
    let exact: readonly ArrayLike<Value>[] | undefined;
    return {
      tags,
      times,
      columns: fields.map((_, f) => {
        const index = plain[f];
        if (index !== undefined) return columns[index] ?? [];
        exact ??= columns.map((column, i) =>
          exactValues(column, select.columns[i]?.type ?? 'unknown'),
        );
        return computed(functions[f], times, exact);
      }),
    };
  };
}

/** Replaces NULLs of a selected column with the fill number, before expressions use it. */
function filledColumn(column: ArrayLike<Value>, type: DataType, value: number | bigint): Value[] {
  const empty = fillNumber(value, type);
  return Array.from(column, (cell) => cell ?? empty);
}

type FillPrevious = (tags: readonly string[], columns: RowPiece['columns']) => Value[][];

/** Returns a function that replaces NULL with the preceding value in result order, per series. */
function previousFiller(): FillPrevious {
  let before: readonly string[] | undefined;
  let last: Value[] = [];
  return (tags, columns) => {
    if (before === undefined || compareTags(before, tags) !== 0) last = columns.map(() => null);
    before = tags;
    return columns.map((column, i) =>
      Array.from(column, (cell) => {
        const value = cell ?? last[i] ?? null;
        last[i] = value;
        return value;
      }),
    );
  };
}

function computed(
  compute: ReturnType<typeof rowFunction> | undefined,
  times: ArrayLike<bigint>,
  columns: readonly ArrayLike<Value>[],
): Value[] {
  const values = new Array<Value>(times.length);
  const slots = new Array<Value>(columns.length);
  for (let row = 0; row < times.length; row++) {
    for (let i = 0; i < columns.length; i++) slots[i] = columns[i]?.[row] ?? null;
    values[row] = compute?.(slots, times[row] as bigint) ?? null; // row is below the length
  }
  return values;
}
