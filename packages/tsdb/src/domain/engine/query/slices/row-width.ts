import type { OutputColumn, ResultChunk } from '../../../../model/columns/result.js';
import { TextCells } from '../../../../model/columns/text-cells.js';
import { TextSpans } from '../../../../model/columns/text-spans.js';

/** A value with its share of the keys and of what the engine keeps of a row. */
export const SORTED_VALUE_BYTES = 12;
/** A value of which nobody knows how long it is. */
const UNKNOWN_BYTES = 64;
/** What a text takes beside its characters. */
const TEXT_BYTES = 16;
/** Values that are looked at in a column of a chunk. */
const SAMPLED_VALUES = 16;
/** Rows that came long ago count for less than those that came last. */
const KEPT_SHARE = 0.5;

/** About how much the engine holds of a row that it sorts, told by what is stored and then by the rows that came before. */
export class RowWidth {
  readonly #longColumns: readonly number[];
  readonly #fixedBytes: number;
  #seenRows = 0;
  #seenBytes = 0;
  /** Of a row: values that may be long. `undefined`: nobody has seen any. */
  #longBytes: number | undefined;

  /** @param textBytes what the texts take that are stored; `undefined`: not known. */
  constructor(columns: readonly Pick<OutputColumn, 'type'>[], textBytes: number | undefined) {
    this.#longColumns = columns.flatMap(({ type }, index) => (isLong(type.kind) ? [index] : []));
    const { length } = this.#longColumns;
    this.#fixedBytes = (columns.length - length) * SORTED_VALUE_BYTES;
    if (length === 0) this.#longBytes = 0;
    // Values may be made of others.
    else if (textBytes !== undefined) this.#longBytes = textBytes + length * UNKNOWN_BYTES;
  }

  /** About as many bytes as the chunk has. */
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

  /** `undefined`: it is not known how long texts are. Never 0. */
  get bytes(): number | undefined {
    if (this.#longBytes === undefined) return undefined;
    return Math.max(1, this.#fixedBytes + this.#longBytes);
  }

  /** What came took of a row, of values that may be long; `undefined`: nothing came. */
  get seenTextBytes(): number | undefined {
    return this.#seenRows === 0 ? undefined : this.#longBytes;
  }
}

function sizeAt(column: ResultChunk['columns'][number] | undefined, row: number): number {
  // Its texts are in the cells.
  if (column === undefined || column instanceof TextCells) return TEXT_BYTES;
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
