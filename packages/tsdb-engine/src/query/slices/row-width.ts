import { InlinedTexts } from '@plinth/tsdb-model/columns/inlined-texts.js';
import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';

/** Bytes of a value, including its share of the keys and of DuckDB's row overhead. */
export const SORTED_VALUE_BYTES = 12;
/** Assumed bytes of a value of unknown length. */
const UNKNOWN_BYTES = 64;
/** Overhead of a string beyond its characters. */
const TEXT_BYTES = 16;
/** Number of values sampled per column of a chunk. */
const SAMPLED_VALUES = 16;
/** Weight of earlier rows, so that recent rows count more. */
const KEPT_SHARE = 0.5;

/**
 * Estimates DuckDB's memory per sorted row, first from stored sizes and then from the rows seen.
 */
export class RowWidth {
  readonly #longColumns: readonly number[];
  readonly #fixedBytes: number;
  #seenRows = 0;
  #seenBytes = 0;
  /** Bytes per row of values that may be long; `undefined` before any were seen. */
  #longBytes: number | undefined;

  /** @param stringBytes size of the stored strings; `undefined` if unknown. */
  constructor(columns: readonly Pick<OutputColumn, 'type'>[], stringBytes: number | undefined) {
    this.#longColumns = columns.flatMap(({ type }, index) => (isLong(type.kind) ? [index] : []));
    const { length } = this.#longColumns;
    this.#fixedBytes = (columns.length - length) * SORTED_VALUE_BYTES;
    if (length === 0) this.#longBytes = 0;
    // Values may be derived from others.
    else if (stringBytes !== undefined) this.#longBytes = stringBytes + length * UNKNOWN_BYTES;
  }

  /** Updates the estimate from a chunk, and returns the chunk's approximate size in bytes. */
  see({ columns, rowCount }: ResultChunk): number {
    if (this.#longColumns.length === 0) return rowCount * this.#fixedBytes;
    const step = Math.max(1, Math.ceil(rowCount / SAMPLED_VALUES));
    let [sampledRows, sampledBytes] = [0, 0];
    for (let row = 0; row < rowCount; row += step) {
      sampledRows++;
      for (const index of this.#longColumns) sampledBytes += sizeAt(columns[index], row);
    }
    if (sampledRows === 0) return 0;
    this.#seenRows = this.#seenRows * KEPT_SHARE + sampledRows;
    this.#seenBytes = this.#seenBytes * KEPT_SHARE + sampledBytes;
    const mean = sampledBytes / sampledRows;
    this.#longBytes = Math.max(mean, this.#seenBytes / this.#seenRows);
    return rowCount * (this.#fixedBytes + mean);
  }

  /** Bytes per row, at least 1; `undefined` while string lengths are unknown. */
  get bytes(): number | undefined {
    if (this.#longBytes === undefined) return undefined;
    return Math.max(1, this.#fixedBytes + this.#longBytes);
  }

  /** Observed bytes per row of values that may be long; `undefined` if no rows arrived. */
  get seenStringBytes(): number | undefined {
    return this.#seenRows === 0 ? undefined : this.#longBytes;
  }
}

function sizeAt(column: ResultChunk['columns'][number] | undefined, row: number): number {
  // The strings of these columns are inlined.
  if (column === undefined || column instanceof InlinedTexts) return TEXT_BYTES;
  if (column instanceof TextSpans) return TEXT_BYTES + (column.sizes[row] as number);
  const value = column.values[row];
  const isSized = typeof value === 'string' || value instanceof Uint8Array;
  return isSized ? TEXT_BYTES + value.length : UNKNOWN_BYTES;
}

const LONG: ReadonlySet<OutputColumn['type']['kind']> = new Set([
  'utf8',
  'binary',
  'list',
  'struct',
  'map',
]);
const isLong = (kind: OutputColumn['type']['kind']): boolean => LONG.has(kind);
