import { invariant } from '@plinth/kernel';
import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import { quoteName } from '@plinth/tsdb-model/text/quote.js';
import { TimeSlicedTask } from '@plinth/tsdb-model/time-sliced-task.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { SeriesIndex } from '../../series/series-index.js';
import type { CachedRows } from '../cache/cached-rows.js';
import { ColumnBuilder, type ColumnType, narrowestFor } from './column-builder.js';
import { PartBuilder } from './part-builder.js';

/** Rows `[from, to)` of a source, which the column cache loads and evicts as one. */
export interface CachedRange {
  readonly from: number;
  readonly to: number;
  readonly rows: CachedRows;
  /** The range replaces several ranges of a buffer table; it does not grow. */
  readonly isMerged: boolean;
}

/** Source of a load. */
export interface LoadSource {
  readonly duckDb: DuckDbHost;
  readonly index: SeriesIndex;
  /** SQL text for FROM. */
  readonly from: string;
  /** Name of the column with the row number, from 0. */
  readonly rowNumber: string;
  /** Waits briefly while clients send queries, so that a load does not delay them. */
  readonly pauseForQueries: () => Promise<void>;
}

/** A field to load, with the numeric type that DuckDB returns for it. */
export interface LoadColumn {
  readonly column: Column;
  readonly columnType: ColumnType;
  readonly text: string;
}

/** Number of rows per statement. Their chunks are processed without a pause. */
const STATEMENT_ROWS = 131_072;

const INT64: SqlType = { kind: 'int', bits: 64, signed: true };

/**
 * Reads the minimum and maximum of each field, so that DuckDB returns the values in the narrowest
 * type.
 */
export async function loadColumns(
  source: LoadSource,
  columns: readonly Column[],
  range: { readonly from: number; readonly to: number },
): Promise<readonly LoadColumn[]> {
  if (columns.length === 0) return [];
  const list = columns.map(({ physicalName, kind }) => {
    const name = quoteName(physicalName);
    return kind === 'int64' || kind === 'uint64'
      ? `count(${name}), min(${name}), max(${name})`
      : `count(${name}), NULL, NULL`;
  });
  const [facts = []] = await source.duckDb.rows(
    `SELECT count(*), ${list.join(', ')} FROM ${rangeText(source, range.from, range.to)}`,
  );
  const rowCount = Number(facts[0]);
  return columns.map((column, i) => {
    const [count, min, max] = facts.slice(1 + i * 3, 4 + i * 3);
    const mayLack = Number(count) < rowCount;
    return { column, ...duckDbColumn(column, Number(min ?? 0), Number(max ?? 0), mayLack) };
  });
}

/**
 * Returns the columns without a query for their narrowest types. For few rows, that query takes
 * longer than finding the types afterwards.
 */
export function unseenColumns(columns: readonly Column[]): readonly LoadColumn[] {
  return columns.map((column) => ({
    column,
    ...duckDbColumn(column, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, true),
  }));
}

function duckDbColumn(
  { kind, physicalName }: Column,
  min: number,
  max: number,
  mayLack: boolean,
): Pick<LoadColumn, 'columnType' | 'text'> {
  const name = quoteName(physicalName);
  const cast = (
    numbers: ColumnType['numbers'],
    type: string,
  ): Pick<LoadColumn, 'columnType' | 'text'> => ({
    columnType: { numbers, mayLack },
    text: `CAST(${name} AS ${type})`,
  });
  if (kind === 'float64') return { columnType: { numbers: Float64Array, mayLack }, text: name };
  if (kind === 'bool') return cast(Int8Array, 'TINYINT');
  switch (narrowestFor(min, max)) {
    case Int8Array:
      return cast(Int8Array, 'TINYINT');
    case Int16Array:
      return cast(Int16Array, 'SMALLINT');
    case Int32Array:
      return cast(Int32Array, 'INTEGER');
    default:
      return { columnType: { numbers: undefined, mayLack }, text: name };
  }
}

/** Returns the maximum size of a loaded value in bytes. */
export function valueSizeBytes({ columnType }: LoadColumn): number {
  return columnType.numbers?.BYTES_PER_ELEMENT ?? 8;
}

/** Reads the missing columns of a range, in row order. */
export async function loadRange(
  source: LoadSource,
  { from, to, rows }: CachedRange,
  columns: readonly LoadColumn[],
): Promise<void> {
  const lacking = columns.filter(({ column }) => !rows.has(column.id));
  const known = rows.part;
  const part = known === undefined ? new PartBuilder(to - from) : undefined;
  const builders = lacking.map(({ columnType }) => new ColumnBuilder(columnType, to - from));
  const task = new TimeSlicedTask(undefined, source.pauseForQueries);
  let rowCount = 0;
  for (let start = from; start < to; start += STATEMENT_ROWS) {
    const end = Math.min(to, start + STATEMENT_ROWS);
    const texts = [
      ...(part === undefined ? [] : ['_series', '"time"']),
      ...lacking.map(({ text }) => text),
    ];
    const chunks = readChunks(source, texts, { from: start, to: end });
    for await (const { columns: vectors, rowCount: count } of chunks) {
      const fields = part === undefined ? vectors : vectors.slice(2);
      if (part !== undefined) addRows(part, vectors, count, source.index);
      fields.forEach(({ values, validity }, i) => {
        // Every type that is loaded arrives as a typed array.
        builders[i]?.add(values as Float64Array, count, validity);
      });
      rowCount += count;
      await task.yieldIfDue();
    }
  }
  invariant(rowCount === to - from, 'a source did not return all rows of the requested range');
  const finished = known ?? (part === undefined ? undefined : await task.run(part.finishInSteps()));
  if (known === undefined) rows.setPart(finished);
  if (finished === undefined) return;
  for (let i = 0; i < lacking.length; i++) {
    await task.yieldIfDue();
    rows.setColumn((lacking[i] as LoadColumn).column.id, builders[i]?.finish(finished.order));
  }
}

/** Loads are never canceled, because several queries may wait for one. */
const NEVER = new AbortController().signal;

function addRows(
  part: PartBuilder,
  [ids, times]: ResultChunk['columns'],
  count: number,
  index: SeriesIndex,
): void {
  invariant(ids !== undefined && times !== undefined, 'series ids and timestamps must be selected');
  // BIGINT and TIMESTAMP_NS arrive as 64-bit integers.
  part.add(
    ordinalOf(ids.values as BigInt64Array, count, index),
    (times.values as BigInt64Array).subarray(0, count),
  );
}

function readChunks(
  source: LoadSource,
  texts: readonly string[],
  range: { readonly from: number; readonly to: number },
): AsyncIterable<ResultChunk> {
  // None of the requested columns has a type that needs conversion.
  const columns = texts.map(
    (name): OutputColumn => ({ name, type: INT64, tableColumnKind: undefined }),
  );
  return source.duckDb.stream({
    text: `SELECT ${texts.join(', ')} FROM ${rangeText(source, range.from, range.to)}`,
    columns,
    isMaterialized: true,
    isBackground: true,
    signal: NEVER,
  });
}

function rangeText({ from, rowNumber }: LoadSource, start: number, end: number): string {
  return `${from} WHERE ${rowNumber} >= ${start} AND ${rowNumber} < ${end}`;
}

/** Returns the series ordinals of the series with these ids; -1 for unknown ids. */
export function ordinalOf(ids: BigInt64Array, count: number, index: SeriesIndex): Uint32Array {
  const words = new Int32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  const series = new Uint32Array(count);
  let lastLow = 0;
  let lastHigh = 0;
  let ordinal = -1;
  for (let i = 0; i < count; i++) {
    const low = words[i * 2] as number;
    const high = words[i * 2 + 1] as number;
    if (ordinal < 0 || low !== lastLow || high !== lastHigh) {
      ordinal = index.ordinalOf(low, high);
      lastLow = low;
      lastHigh = high;
    }
    series[i] = ordinal;
  }
  return series;
}
