import type { OutputColumn, ResultChunk } from '../../../model/result.js';
import { TextCells } from '../../../model/text-cells.js';
import { TextSpans } from '../../../model/text-spans.js';

/** A value with its share of the keys and of what the engine keeps of a row. */
export const SORTED_VALUE_BYTES = 12;
/** A value that may be long until some have been seen: too much, so that the first rows are not too many. */
const UNSEEN_BYTES = 1024;
/** A value of which nobody knows how long it is. */
const UNKNOWN_BYTES = 64;
/** What a text takes beside its characters. */
const TEXT_BYTES = 16;
/** Values that are looked at in a column of a chunk. */
const SAMPLED_VALUES = 16;

/** About how much the engine holds of a row that it sorts, told by the rows that came before. */
export class RowWidth {
  readonly #longColumns: readonly number[];
  readonly #fixedBytes: number;
  #seenRows = 0;
  #seenBytes = 0;

  constructor(columns: readonly Pick<OutputColumn, 'type'>[]) {
    this.#longColumns = columns.flatMap(({ type }, index) => (isLong(type.kind) ? [index] : []));
    this.#fixedBytes = (columns.length - this.#longColumns.length) * SORTED_VALUE_BYTES;
  }

  see({ columns, rowCount }: ResultChunk): void {
    if (this.#longColumns.length === 0) return;
    const step = Math.max(1, Math.ceil(rowCount / SAMPLED_VALUES));
    for (let row = 0; row < rowCount; row += step) {
      this.#seenRows++;
      for (const index of this.#longColumns) this.#seenBytes += sizeAt(columns[index], row);
    }
  }

  /** Never 0. */
  get bytes(): number {
    const { length } = this.#longColumns;
    const longBytes =
      this.#seenRows === 0 ? length * UNSEEN_BYTES : this.#seenBytes / this.#seenRows;
    return Math.max(1, this.#fixedBytes + longBytes);
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
