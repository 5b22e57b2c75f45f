import type { SeriesOfRows } from '../../model/columns/cached-texts.js';
import type { ColumnKind } from '../../model/columns/column.js';
import type { ColumnVector } from '../../model/columns/result.js';
import type { SeriesSpan } from './execute/series/series.js';
import { sliceOf } from './execute/series/vector-values.js';
import type { DataType, Value } from './plan/data-type.js';

export interface AnswerColumn {
  readonly name: string;
  readonly type: DataType;
  /** What the column is in its measurement when it is passed through unchanged; absent for what was computed. */
  readonly source?: ColumnKind | undefined;
}

export const textColumn = (name: string): AnswerColumn => ({ name, type: 'string' });

/** What the rows of a series are. */
export interface AnswerHeading {
  readonly columns: readonly AnswerColumn[];
  /** Names of the grouping tags, ascending. */
  readonly tagNames: readonly string[];
}

/** Rows of one series; a long one comes in several pieces, one after the other. */
export interface AnswerSeries {
  readonly name: string;
  /** Values of the answer's tags. */
  readonly tags: readonly string[];
  readonly rowCount: number;
  readonly columns: readonly ArrayLike<Value>[];
  /** Where it is another than that of the answer. */
  readonly heading?: AnswerHeading;
}

/** Rows of several series behind each other, in columns that they have in common. */
export interface AnswerBlock {
  readonly name: string;
  /** Each is a series, or its next piece; no two are of one series. */
  readonly spans: readonly SeriesSpan[];
  /** Made when they are asked for. */
  readonly columns: readonly ArrayLike<Value>[];
  /** What stands in `columns`, where that was handed out as it is: whoever writes bytes needs no values of texts. */
  readonly vectors?: readonly (ColumnVector | undefined)[] | undefined;
  /** Each span is all that there is of its series. */
  readonly areSpansWhole?: boolean | undefined;
  /** Of the rows, whose tags all columns of tags are; `undefined`: nobody knows. */
  readonly series?: SeriesOfRows | undefined;
  /** Where it is another than that of the answer. */
  readonly heading?: AnswerHeading | undefined;
}

/** The answer to one statement. */
export interface Answer extends AnswerHeading {
  /** Zone that times are shown in. */
  readonly zone: string | undefined;
  readonly blocks: AsyncIterable<AnswerBlock>;
}

/** The rows of an answer, a series at a time. */
export async function* seriesOf({ blocks }: Answer): AsyncGenerator<AnswerSeries, void, undefined> {
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

/** Rows already at hand. A series without rows is told of, too: clients read its columns all the same. */
export function madeAnswer(
  columns: readonly AnswerColumn[],
  series: readonly AnswerSeries[],
): Answer {
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

export const EMPTY_ANSWER: Answer = madeAnswer([], []);

/** Columns of a list; a long list is sent in several pieces. */
export interface ListPiece {
  readonly name: string;
  readonly columns: readonly (readonly Value[])[];
}

/** Lists whose rows are made while the answer is taken. */
export function piecedAnswer(
  columns: readonly AnswerColumn[],
  pieces: AsyncIterable<ListPiece>,
): Answer {
  return { columns, tagNames: [], zone: undefined, blocks: listBlocks(pieces) };
}

async function* listBlocks(
  pieces: AsyncIterable<ListPiece>,
): AsyncGenerator<AnswerBlock, void, undefined> {
  for await (const { name, columns } of pieces)
    yield { name, spans: [{ tags: [], from: 0, to: columns[0]?.length ?? 0 }], columns };
}

/** Lists of rows, those without any left out. */
export function listAnswer(
  columns: readonly AnswerColumn[],
  lists: readonly { readonly name: string; readonly rows: readonly (readonly Value[])[] }[],
): Answer {
  const some = lists.filter(({ rows }) => rows.length > 0);
  return madeAnswer(
    columns,
    some.map(({ name, rows }) => ({
      name,
      tags: [],
      rowCount: rows.length,
      columns: columns.map((_, i) => rows.map((row) => row[i] ?? null)),
    })),
  );
}

/** Series without rows: there is nothing to list. */
export const rowlessAnswer = (columns: readonly AnswerColumn[], names: readonly string[]): Answer =>
  madeAnswer(
    columns,
    names.map((name) => ({ name, tags: [], rowCount: 0, columns: columns.map(() => []) })),
  );
