import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { SeriesOfRows } from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import type { SeriesSpan } from './execute/series/series.js';
import { sliceOf } from './execute/series/vector-values.js';
import type { DataType, Value } from './plan/data-type.js';

export interface ResultColumn {
  readonly name: string;
  readonly type: DataType;
  /**
   * Kind of the measurement column that is passed through unchanged; absent for computed columns.
   */
  readonly tableColumnKind?: ColumnKind | undefined;
}

export const textColumn = (name: string): ResultColumn => ({ name, type: 'string' });

/** Columns and grouping tags that describe the rows of a series. */
export interface ResultHeading {
  readonly columns: readonly ResultColumn[];
  /** Names of the grouping tags, ascending. */
  readonly tagNames: readonly string[];
}

/** Rows of one series. A long series arrives in several consecutive pieces. */
export interface ResultSeries {
  readonly name: string;
  /** Values of the grouping tags, in the order of `tagNames`. */
  readonly tags: readonly string[];
  readonly rowCount: number;
  readonly columns: readonly ArrayLike<Value>[];
  /** Set only if it differs from the heading of the result. */
  readonly heading?: ResultHeading;
}

/** Consecutive rows of several series that share their columns. */
export interface ResultBlock {
  readonly name: string;
  /**
   * Each span is a series or its next piece. Two spans of a block never belong to the same series.
   */
  readonly spans: readonly SeriesSpan[];
  /** Computed on first access. */
  readonly columns: readonly ArrayLike<Value>[];
  /**
   * The vectors behind `columns`, if they are unchanged. Serializers use them to avoid creating
   * strings.
   */
  readonly vectors?: readonly (ColumnVector | undefined)[] | undefined;
  /** True if each span contains its complete series. */
  readonly areSpansWhole?: boolean | undefined;
  /** Series of the rows, if every tag column has their tags. `undefined` means unknown. */
  readonly series?: SeriesOfRows | undefined;
  /** Set only if it differs from the heading of the result. */
  readonly heading?: ResultHeading | undefined;
}

/** Result of one statement. */
export interface StatementResult extends ResultHeading {
  /** Time zone in which timestamps are formatted. */
  readonly zone: string | undefined;
  readonly blocks: AsyncIterable<ResultBlock>;
}

/** Returns the rows of a result series by series. */
export async function* seriesOf({
  blocks,
}: StatementResult): AsyncGenerator<ResultSeries, void, undefined> {
  for await (const { name, spans, columns, heading } of blocks) {
    for (const { tags, from, to } of spans) {
      const parts = columns.map((column) => sliceOf(column, from, to));
      yield { name, tags, rowCount: to - from, columns: parts, ...(heading && { heading }) };
    }
  }
}

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* items;
}

/**
 * Returns a result from rows in memory. Includes series without rows, because clients read their
 * columns.
 */
export function completeResult(
  columns: readonly ResultColumn[],
  series: readonly ResultSeries[],
): StatementResult {
  const blocks = series.map(({ name, tags, rowCount, columns: values, heading }) => ({
    name,
    spans: [{ tags, from: 0, to: rowCount }],
    columns: values,
    heading,
  }));
  return {
    columns,
    tagNames: [],
    zone: undefined,
    blocks: { [Symbol.asyncIterator]: () => each(blocks) },
  };
}

export const EMPTY_RESULT: StatementResult = completeResult([], []);

/** Some rows of one list. A long list is sent in several pieces. */
export interface ListPiece {
  readonly name: string;
  readonly columns: readonly (readonly Value[])[];
}

/** Lists whose rows are created while the result is read. */
export function streamedResult(
  columns: readonly ResultColumn[],
  pieces: AsyncIterable<ListPiece>,
): StatementResult {
  return { columns, tagNames: [], zone: undefined, blocks: listBlocks(pieces) };
}

async function* listBlocks(
  pieces: AsyncIterable<ListPiece>,
): AsyncGenerator<ResultBlock, void, undefined> {
  for await (const { name, columns } of pieces)
    yield { name, spans: [{ tags: [], from: 0, to: columns[0]?.length ?? 0 }], columns };
}

/** Returns a result from lists of rows. Lists without rows are omitted. */
export function listResult(
  columns: readonly ResultColumn[],
  lists: readonly { readonly name: string; readonly rows: readonly (readonly Value[])[] }[],
): StatementResult {
  const some = lists.filter(({ rows }) => rows.length > 0);
  return completeResult(
    columns,
    some.map(({ name, rows }) => ({
      name,
      tags: [],
      rowCount: rows.length,
      columns: columns.map((_, i) => rows.map((row) => row[i] ?? null)),
    })),
  );
}

/** Returns a result whose series have columns but no rows. */
export const emptyResult = (
  columns: readonly ResultColumn[],
  names: readonly string[],
): StatementResult =>
  completeResult(
    columns,
    names.map((name) => ({ name, tags: [], rowCount: 0, columns: columns.map(() => []) })),
  );
