import type { Column } from '@plinth/tsdb-model/columns/column.js';
import {
  type ColumnVector,
  type ResultChunk,
  validityOf,
} from '@plinth/tsdb-model/columns/result.js';
import type { BatchRows, Cell } from './batch-rows.js';

/** Estimated memory of a cell in addition to its text. */
const CELL_BYTES = 16;

/** Rows to be sent: copies of some columns, in the order in which the rows were written. */
export class GatheredRows {
  readonly columns: readonly Column[];
  readonly #cells: Cell[][];
  rowCount = 0;
  sizeBytes = 0;
  /** Number of the write that contains the newest row; kept after `clear`. */
  seq = 0n;
  /** Number of rows of that write so far; kept after `clear`. */
  countOfSeq = 0;

  constructor(columns: readonly Column[]) {
    this.columns = columns;
    this.#cells = columns.map(() => []);
  }

  /** Counts a row of the write `seq`, and copies it unless `isSkipped` is set. */
  push(rows: BatchRows, row: number, seq: bigint, isSkipped: (count: number) => boolean): void {
    if (seq !== this.seq) {
      this.seq = seq;
      this.countOfSeq = 0;
    }
    this.countOfSeq++;
    if (isSkipped(this.countOfSeq)) return;
    for (let i = 0; i < this.columns.length; i++) {
      const cell = rows.cell(row, this.columns[i] as Column); // i is below the length
      (this.#cells[i] as Cell[]).push(cell);
      this.sizeBytes += CELL_BYTES + (typeof cell === 'string' ? cell.length : 0);
    }
    this.rowCount++;
  }

  clear(): void {
    for (const cells of this.#cells) cells.length = 0;
    this.rowCount = 0;
    this.sizeBytes = 0;
  }

  rowAt(row: number): readonly Cell[] {
    return this.#cells.map((cells) => cells[row] as Cell);
  }

  toChunk(): ResultChunk {
    const columns = this.columns.map(({ kind }, i) => vectorOf(kind, this.#cells[i] as Cell[]));
    return { rowCount: this.rowCount, columns };
  }
}

function vectorOf(kind: Column['kind'], cells: readonly Cell[]): ColumnVector {
  switch (kind) {
    case 'tag':
    case 'utf8':
      return { values: [...cells], validity: validityOf(cells, cells.length) };
    case 'float64':
      return numbers(new Float64Array(cells.length), cells);
    case 'bool':
      return numbers(new Uint8Array(cells.length), cells);
    case 'uint64':
      return numbers(new BigUint64Array(cells.length), cells);
    case 'int64':
    case 'time':
      return numbers(new BigInt64Array(cells.length), cells);
  }
}

function numbers(
  values: Float64Array | Uint8Array | BigInt64Array | BigUint64Array,
  cells: readonly Cell[],
): ColumnVector {
  for (let row = 0; row < cells.length; row++) {
    const cell = cells[row];
    if (cell !== null) values[row] = cell as never; // by the column's kind
  }
  return { values, validity: validityOf(cells, cells.length) };
}
