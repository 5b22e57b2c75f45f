import type { ColumnKind } from '../../model/column.js';
import type { DataType, Value } from './plan/data-type.js';

export interface AnswerColumn {
  readonly name: string;
  readonly type: DataType;
  /** What the column is in its measurement when it is passed through unchanged; absent for what was computed. */
  readonly source?: ColumnKind | undefined;
}

/** Rows of one series; a long one comes in several pieces, one after the other. */
export interface AnswerSeries {
  readonly name: string;
  /** Values of the answer's tags. */
  readonly tags: readonly string[];
  readonly rowCount: number;
  readonly columns: readonly ArrayLike<Value>[];
}

/** The answer to one statement. */
export interface Answer {
  readonly columns: readonly AnswerColumn[];
  /** Names of the grouping tags, ascending. */
  readonly tagNames: readonly string[];
  /** Zone that times are shown in. */
  readonly zone: string | undefined;
  readonly series: AsyncIterable<AnswerSeries>;
}

async function* noSeries(): AsyncGenerator<AnswerSeries, void, undefined> {
  // Nothing.
}

export const EMPTY_ANSWER: Answer = {
  columns: [],
  tagNames: [],
  zone: undefined,
  series: { [Symbol.asyncIterator]: noSeries },
};

/** Rows already at hand, as one series. */
export function listAnswer(
  columns: readonly AnswerColumn[],
  lists: readonly { readonly name: string; readonly rows: readonly (readonly Value[])[] }[],
): Answer {
  return {
    columns,
    tagNames: [],
    zone: undefined,
    series: {
      async *[Symbol.asyncIterator]() {
        for (const { name, rows } of lists) {
          if (rows.length === 0) continue;
          yield {
            name,
            tags: [],
            rowCount: rows.length,
            columns: columns.map((_, i) => rows.map((row) => row[i] ?? null)),
          };
        }
      },
    },
  };
}
