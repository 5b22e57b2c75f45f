import { invariant } from '@plinth/kernel';
import type { Column } from '../../../../model/columns/column.js';
import type { OutputColumn, ResultChunk } from '../../../../model/columns/result.js';
import type { SqlType } from '../../../../model/sql-type.js';
import { TimeSlicedTask } from '../../../../model/time-sliced-task.js';
import type { DuckDbHost } from '../../../../storage/duckdb/duckdb-host.js';
import { quoteName } from '../../../../storage/duckdb/quote.js';
import type { SeriesIndex } from '../../series/series-index.js';
import type { CachedRows } from '../cache/cached-rows.js';
import { ColumnBuilder, type ColumnForm, narrowestFor } from './column-builder.js';
import { PartBuilder } from './part-builder.js';

/** Rows `[from, to)` of a source that are kept as one. */
export interface RowUnit {
  readonly from: number;
  readonly to: number;
  readonly rows: CachedRows;
  /** It stands for several pages of a buffer table, and is not looked at as a page that grows. */
  readonly isGathered: boolean;
}

/** What a load reads. */
export interface LoadSource {
  readonly host: DuckDbHost;
  readonly index: SeriesIndex;
  /** What stands in FROM. */
  readonly from: string;
  /** Its column with the number of the row, from 0 on. */
  readonly rowNumber: string;
  /** Resolves when nothing more urgent is to be done. */
  readonly giveWay: () => Promise<void>;
}

/** A field to load, in the form in which the engine is asked for it. */
export interface LoadColumn {
  readonly column: Column;
  readonly form: ColumnForm;
  readonly text: string;
}

/** Rows asked for with one statement: their chunks are taken over without a pause. */
const STATEMENT_ROWS = 131_072;

const INT64: SqlType = { kind: 'int', bits: 64, signed: true };

/** Looks at the least and greatest values of fields, so that the engine hands them out in the narrowest form. */
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
  const [facts = []] = await source.host.rows(
    `SELECT count(*), ${list.join(', ')} FROM ${rangeText(source, range.from, range.to)}`,
  );
  const rowCount = Number(facts[0]);
  return columns.map((column, i) => {
    const [count, min, max] = facts.slice(1 + i * 3, 4 + i * 3);
    const mayLack = Number(count) < rowCount;
    return { column, ...engineForm(column, Number(min ?? 0), Number(max ?? 0), mayLack) };
  });
}

/** Without a look: for few rows the question takes longer than finding their form when they are here. */
export function unseenColumns(columns: readonly Column[]): readonly LoadColumn[] {
  return columns.map((column) => ({
    column,
    ...engineForm(column, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, true),
  }));
}

function engineForm(
  { kind, physicalName }: Column,
  min: number,
  max: number,
  mayLack: boolean,
): Pick<LoadColumn, 'form' | 'text'> {
  const name = quoteName(physicalName);
  const cast = (
    numbers: ColumnForm['numbers'],
    type: string,
  ): Pick<LoadColumn, 'form' | 'text'> => ({
    form: { numbers, mayLack },
    text: `CAST(${name} AS ${type})`,
  });
  if (kind === 'float64') return { form: { numbers: Float64Array, mayLack }, text: name };
  if (kind === 'bool') return cast(Int8Array, 'TINYINT');
  switch (narrowestFor(min, max)) {
    case Int8Array:
      return cast(Int8Array, 'TINYINT');
    case Int16Array:
      return cast(Int16Array, 'SMALLINT');
    case Int32Array:
      return cast(Int32Array, 'INTEGER');
    default:
      return { form: { numbers: undefined, mayLack }, text: name };
  }
}

/** Bytes that a value takes once it is loaded, at most. */
export function valueSizeBytes({ form }: LoadColumn): number {
  return form.numbers?.BYTES_PER_ELEMENT ?? 8;
}

/** Reads what a unit lacks, in the order of its rows. */
export async function loadUnit(
  source: LoadSource,
  { from, to, rows }: RowUnit,
  columns: readonly LoadColumn[],
): Promise<void> {
  const lacking = columns.filter(({ column }) => !rows.has(column.id));
  const known = rows.part;
  const part = known === undefined ? new PartBuilder(to - from) : undefined;
  const builders = lacking.map(({ form }) => new ColumnBuilder(form, to - from));
  const runner = new TimeSlicedTask(undefined, source.giveWay);
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
        // Each kind that is loaded comes as a typed array of its own.
        builders[i]?.add(values as Float64Array, count, validity);
      });
      rowCount += count;
      await runner.take();
    }
  }
  invariant(rowCount === to - from, 'a source has as many rows as it says');
  const finished =
    known ?? (part === undefined ? undefined : await runner.run(part.finishInSteps()));
  if (known === undefined) rows.setPart(finished);
  if (finished === undefined) return;
  for (let i = 0; i < lacking.length; i++) {
    await runner.take();
    rows.setColumn((lacking[i] as LoadColumn).column.id, builders[i]?.finish(finished.order));
  }
}

/** Loads are not given up half-way: others may wait for them. */
const NEVER = new AbortController().signal;

function addRows(
  part: PartBuilder,
  [ids, times]: ResultChunk['columns'],
  count: number,
  index: SeriesIndex,
): void {
  invariant(ids !== undefined && times !== undefined, 'both were asked for');
  // BIGINT and TIMESTAMP_NS come as 64-bit integers.
  part.add(
    denseOf(ids.values as BigInt64Array, count, index),
    (times.values as BigInt64Array).subarray(0, count),
  );
}

function readChunks(
  source: LoadSource,
  texts: readonly string[],
  range: { readonly from: number; readonly to: number },
): AsyncIterable<ResultChunk> {
  // Of types that need a form of their own none is asked for.
  const columns = texts.map((name): OutputColumn => ({ name, type: INT64, source: undefined }));
  return source.host.stream({
    text: `SELECT ${texts.join(', ')} FROM ${rangeText(source, range.from, range.to)}`,
    columns,
    isSmall: true,
    isBackground: true,
    signal: NEVER,
  });
}

function rangeText({ from, rowNumber }: LoadSource, start: number, end: number): string {
  return `${from} WHERE ${rowNumber} >= ${start} AND ${rowNumber} < ${end}`;
}

/** Dense numbers of the series with these ids; -1 where there is none. */
export function denseOf(ids: BigInt64Array, count: number, index: SeriesIndex): Uint32Array {
  const words = new Int32Array(ids.buffer, ids.byteOffset, ids.length * 2);
  const series = new Uint32Array(count);
  let lastLow = 0;
  let lastHigh = 0;
  let dense = -1;
  for (let i = 0; i < count; i++) {
    const low = words[i * 2] as number;
    const high = words[i * 2 + 1] as number;
    if (dense < 0 || low !== lastLow || high !== lastHigh) {
      dense = index.denseOf(low, high);
      lastLow = low;
      lastHigh = high;
    }
    series[i] = dense;
  }
  return series;
}
