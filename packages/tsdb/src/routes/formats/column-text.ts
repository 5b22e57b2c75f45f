import { Memo } from '@plinth/kernel';
import type { ColumnVector, OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { isValid } from '@plinth/tsdb-model/columns/row-batch.js';
import { isNested, type SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import { type CellText, plainSteps, plainText, ROW_STYLE } from './cell-text.js';
import type { NestedText } from './nested/nested-text.js';
import { TimeWriter } from './time-text.js';

/** Formats the values of one column in a chunk. */
export type ColumnText = (vector: ColumnVector, rowCount: number) => string[];

/** Number of repeating values (tags) whose text is cached; the cache is cleared when it is full. */
const MAX_MEMO_COUNT = 8192;
/** Longer values are unlikely to repeat. */
const MAX_MEMO_LENGTH = 256;

/**
 * Returns one formatter per column; each keeps its cache between chunks. NULL becomes an empty
 * string. Nested columns are formatted by `NestedTexts`.
 * @param quote applied to values that may contain any character.
 */
export function columnTexts(
  columns: readonly OutputColumn[],
  quote?: (text: string) => string,
): readonly ColumnText[] {
  return columns.map(({ type }) => (isNested(type) ? () => [] : columnText(type, quote)));
}

/** Formats nested cells, in steps and in parts. NULL has zero parts. */
export class NestedTexts {
  readonly #texts: readonly (NestedText | undefined)[];
  readonly hasAny: boolean;

  constructor(columns: readonly OutputColumn[]) {
    this.#texts = columns.map(({ type }) =>
      isNested(type) ? plainSteps(type, ROW_STYLE) : undefined,
    );
    this.hasAny = this.#texts.some((text) => text !== undefined);
  }

  /** Returns the parts of one cell; `undefined` if the column is not nested. */
  *cell(chunk: ResultChunk, column: number, row: number): Steps<readonly string[] | undefined> {
    const text = this.#texts[column];
    if (text === undefined) return undefined;
    const { values, validity } = chunk.columns[column] as ColumnVector; // one vector per column
    const value = isValid(validity, row) ? values[row] : null;
    const parts: string[] = [];
    if (value !== null && value !== undefined) yield* text(value, (part) => parts.push(part));
    return parts;
  }
}

export function chunkTexts(chunk: ResultChunk, writers: readonly ColumnText[]): string[][] {
  return writers.map((write, index) => {
    const vector = chunk.columns[index] as ColumnVector; // one vector per column
    return write(vector, chunk.rowCount);
  });
}

function columnText(type: SqlType, quote?: (text: string) => string): ColumnText {
  const plain = plainText(type, ROW_STYLE);
  const cell: CellText = quote === undefined ? plain : (value) => quote(plain(value));
  if (type.kind === 'timestamp' && type.zone === undefined) return fastTimes(cell);
  const text = type.kind === 'utf8' || type.kind === 'tag' ? memoised(cell) : cell;
  return (vector, rowCount) => {
    const { values, validity } = vector;
    const texts = new Array<string>(rowCount);
    for (let row = 0; row < rowCount; row++) {
      texts[row] = !isValid(validity, row) || values[row] === null ? '' : text(values[row]);
    }
    return texts;
  };
}

function fastTimes(cell: CellText): ColumnText {
  const writer = new TimeWriter(ROW_STYLE.timeSuffix, ROW_STYLE.fraction);
  return ({ values, validity }, rowCount) => {
    const texts = new Array<string>(rowCount);
    const halves =
      values instanceof BigInt64Array
        ? new Int32Array(values.buffer, values.byteOffset, values.length * 2)
        : undefined;
    for (let row = 0; row < rowCount; row++) {
      if (!isValid(validity, row)) texts[row] = '';
      else texts[row] = halves ? writer.textAt(halves, row) : cell(values[row]);
    }
    return texts;
  };
}

function memoised(text: CellText): CellText {
  const memo = new Memo<unknown, string>({ maxCount: MAX_MEMO_COUNT });
  return (value) => {
    const known = memo.get(value);
    if (known !== undefined) return known;
    const made = text(value);
    if (made.length <= MAX_MEMO_LENGTH) memo.set(value, made);
    return made;
  };
}
