import { FIELD_TYPES } from '@plinth/tsdb-model/columns/column.js';
import type { FieldValues, ParsedTable } from '@plinth/tsdb-model/parsed-body.js';
import { NewSeriesWriter } from '../fast/new-series-writer.js';
import type { SeriesDictionary } from '../fast/series-dictionary.js';
import type { NewTags } from '../new-tags.js';
import { BodyTooSparse, type CellBudget } from './cell-budget.js';
import type { ColumnAllocator } from './column-allocator.js';
import { FieldColumn } from './field-column.js';
import { FieldKeys } from './field-keys.js';
import { FieldSlot } from './field-slot.js';

const FIRST_CAPACITY = 16;
/** Cells per row for timestamp, series and line position. */
const ROW_CELLS = 3;
/**
 * Memory overhead, in cells, of a field with few rows: in this thread and in the receiving thread.
 */
const NEW_FIELD_CELLS = 256;

export interface TableContext {
  readonly parserTable: number;
  /** Dictionary of the table's database. */
  readonly dictionary: SeriesDictionary;
  readonly budget: CellBudget;
  /** Called for each new field or series. */
  readonly noteGrowth: () => void;
}

/** The fields and series of one table, which the parser remembers, and the rows of the current body. */
export class TableRows {
  readonly table: string;
  readonly parserTable: number;
  readonly slots = new Map<string, FieldSlot>();
  rowCount = 0;
  /** Rows granted to the current body; the arrays may be longer. */
  capacity = 0;
  /** Low and high word of each row's timestamp; shares memory with `#times`. */
  timeWords = new Int32Array(0);
  #times = new BigInt64Array(0);
  series = new Uint32Array(0);
  lineStarts = new Uint32Array(0);
  lineEnds = new Uint32Array(0);
  lineNumbers = new Uint32Array(0);
  readonly keys = new FieldKeys();
  readonly #newSeries = new NewSeriesWriter();
  readonly #dictionary: SeriesDictionary;
  readonly #budget: CellBudget;
  readonly #noteGrowth: () => void;
  #keptCells = 0;
  /** Cells of the current body that the budget has counted. */
  #filledCells = 0;
  #seriesCount = 0;
  /** Columns in the order of their first use in the current body. */
  #active: FieldColumn[] = [];

  constructor(table: string, at: TableContext) {
    this.table = table;
    this.parserTable = at.parserTable;
    this.#dictionary = at.dictionary;
    this.#budget = at.budget;
    this.#noteGrowth = at.noteGrowth;
  }

  /** Numbers a new series, and returns its dictionary entry. */
  addSeries(added: { hash: number; text: Uint8Array; tags: NewTags }): number {
    const { hash, text, tags } = added;
    const entry = this.#dictionary.add(hash, text, this.parserTable, this.#seriesCount);
    this.#seriesCount++;
    this.#noteGrowth();
    this.#newSeries.add(tags);
    return entry;
  }

  /** Returns `undefined` if the body contains too many new fields. */
  slot(name: string): FieldSlot | undefined {
    let slot = this.slots.get(name);
    if (slot === undefined) {
      if (!this.#budget.take(NEW_FIELD_CELLS)) return undefined;
      slot = new FieldSlot(name);
      this.#noteGrowth();
      this.slots.set(name, slot);
    }
    return slot;
  }

  column(slot: FieldSlot, type: FieldValues['type']): FieldColumn {
    const column = slot[type] ?? new FieldColumn(slot.name, type);
    slot[type] = column;
    return column;
  }

  /** Prepares a column for the current row. Returns false if the body's budget is exhausted. */
  open(column: FieldColumn): boolean {
    if (!column.isUsed) {
      if (!this.#budget.take(this.capacity)) return false;
      this.noteCells();
      this.#active.push(column);
    }
    column.open(this.rowCount);
    return true;
  }

  /** Removes the value that a rejected line wrote to a column. */
  undo(column: FieldColumn): void {
    if (!column.undo(this.rowCount) || column.isUsed) return;
    column.reset(true);
    this.#budget.release(this.capacity);
    // A column that only this line used is among the last ones.
    this.#active.splice(this.#active.lastIndexOf(column), 1);
  }

  /**
   * Updates the cell count. Throws `BodyTooSparse`. Called when rows or columns grow, so at most
   * half of the rows are uncounted, and at the end of the body.
   */
  noteCells(): void {
    const { table, rowCount } = this;
    const columnCount = this.#active.length;
    const added = rowCount * columnCount - this.#filledCells;
    this.#filledCells += added;
    if (!this.#budget.fill(added)) throw new BodyTooSparse({ table, rowCount, columnCount });
  }

  /** Discards all rows of the current body; series stay known. */
  dropRows(): void {
    for (const column of this.#active) column.reset(true);
    this.#active = [];
    this.rowCount = 0;
  }

  /** Makes room for more rows. Returns false if the body's budget is exhausted. */
  growRows(): boolean {
    this.noteCells();
    const capacity = Math.max(FIRST_CAPACITY, 2 * this.capacity);
    const added = capacity - this.capacity;
    if (!this.#budget.take(added * (this.#active.length + ROW_CELLS))) return false;
    this.capacity = capacity;
    if (this.series.length < capacity) this.#resize(capacity);
    return true;
  }

  /** Returns an upper bound of the bytes that `take` copies. */
  get takenBytes(): number {
    return 8 * this.rowCount * (this.#active.length + ROW_CELLS);
  }

  /** Copies the rows and resets the table for the next body. */
  take(allocator: ColumnAllocator): ParsedTable {
    const rowCount = this.rowCount;
    const cells = this.series.length * (this.slots.size + ROW_CELLS);
    const keepsMemory = this.#budget.keep(this.#keptCells, cells);
    this.#keptCells = keepsMemory ? cells : 0;
    const parsed: ParsedTable = {
      table: this.table,
      parserTable: this.parserTable,
      rowCount,
      times: allocator.longs(this.#times, rowCount),
      seriesNumbers: allocator.numbers(this.series, rowCount),
      fields: this.#active.map((column) => column.take(rowCount, keepsMemory, allocator)),
      firstNewSeries: this.#seriesCount - this.#newSeries.count,
      newSeries: this.#newSeries.take(),
      lineStarts: allocator.numbers(this.lineStarts, rowCount),
      lineEnds: allocator.numbers(this.lineEnds, rowCount),
      lineNumbers: allocator.numbers(this.lineNumbers, rowCount),
    };
    this.#active = [];
    this.rowCount = 0;
    this.capacity = 0;
    this.#filledCells = 0;
    if (!keepsMemory) this.#release();
    return parsed;
  }

  #release(): void {
    this.#resize(0);
    for (const slot of this.slots.values()) {
      for (const type of FIELD_TYPES) slot[type]?.reset(false);
    }
  }

  #resize(rows: number): void {
    this.#times = resized(new BigInt64Array(rows), this.#times);
    this.timeWords = new Int32Array(this.#times.buffer);
    this.series = resized(new Uint32Array(rows), this.series);
    this.lineStarts = resized(new Uint32Array(rows), this.lineStarts);
    this.lineEnds = resized(new Uint32Array(rows), this.lineEnds);
    this.lineNumbers = resized(new Uint32Array(rows), this.lineNumbers);
  }
}

function resized<T extends Uint32Array | BigInt64Array>(target: T, source: T): T {
  // Both arrays have the same type T, but the compiler sees a union of two `set` methods.
  target.set(source.subarray(0, target.length) as never);
  return target;
}
