import type { SparseTable } from '@plinth/tsdb-model/parsed-body.js';
import { LineRefused } from '../slow-path/line-refused.js';

/**
 * Maximum number of cells that all tables of a parser keep between bodies, so that the next body
 * needs no new memory.
 */
const MAX_KEPT_CELLS = 8 * 1024 * 1024;

/**
 * Cells, including empty ones, that a body of any size may use; a larger body may use one per
 * byte.
 */
const MAX_SPARSE_CELLS = 4 * 1024 * 1024;

/**
 * Thrown if a body needs too many cells, and caught by `parse`. Like `LineRefused`, it does not
 * extend `Error`.
 */
export class BodyTooSparse {
  readonly at: SparseTable;
  constructor(at: SparseTable) {
    this.at = at;
  }
}

/**
 * Limits the memory of one body's columns, counted in cells of 8 bytes. Many fields that each occur
 * in few lines would otherwise make columns far larger than the body. A line that would exceed the
 * limit is rejected.
 */
export class CellBudget {
  readonly #maxCells: number;
  #usedCells = 0;
  /** Rows times columns of all tables, without spare capacity. */
  #filledCells = 0;
  #maxFilledCells = MAX_SPARSE_CELLS;
  #keptCells = 0;

  constructor(maxCells: number) {
    this.#maxCells = maxCells;
  }

  begin(bodyBytes: number): void {
    this.#usedCells = 0;
    this.#filledCells = 0;
    this.#maxFilledCells = Math.max(MAX_SPARSE_CELLS, bodyBytes);
  }

  /**
   * Returns false if the body needs more cells than it has bytes, and more than a body of any size
   * may use. A value takes at least four bytes.
   */
  fill(cells: number): boolean {
    this.#filledCells += cells;
    return this.#filledCells <= this.#maxFilledCells;
  }

  take(cells: number): boolean {
    if (this.#usedCells + cells > this.#maxCells) return false;
    this.#usedCells += cells;
    return true;
  }

  release(cells: number): void {
    this.#usedCells -= cells;
  }

  /** Whether a table that kept `before` cells so far may keep `after` for the next body. */
  keep(before: number, after: number): boolean {
    const retained = this.#keptCells - before + after;
    const canKeep = retained <= MAX_KEPT_CELLS;
    this.#keptCells = canKeep ? retained : this.#keptCells - before;
    return canKeep;
  }
}

export function tooManyCells(): LineRefused {
  const why =
    'too many different tables or fields for the number of lines in the request; send smaller requests';
  return new LineRefused(why, { reason: 'limit' });
}
