import type { FieldValues, ParsedSeries, ParsedTable } from '../../model/parsed-body.js';
import { FieldColumn } from './field-column.js';
import { FieldKeys } from './field-keys.js';
import { FieldSlot } from './field-slot.js';
import type { SeriesText } from './line-refused.js';
import type { SeriesDictionary } from './series-dictionary.js';

const FIRST_CAPACITY = 16;
const KEPT_ROWS = 65_536;

/** What the parser keeps about one table (its names) and the rows of the body at hand. */
export class TableRows {
  readonly table: string;
  readonly parserTable: number;
  readonly slots = new Map<string, FieldSlot>();
  rowCount = 0;
  capacity = 0;
  /** Low and high word of each row's time; `#times` is the same memory. */
  timeWords = new Int32Array(0);
  #times = new BigInt64Array(0);
  series = new Uint32Array(0);
  lineStarts = new Uint32Array(0);
  lineEnds = new Uint32Array(0);
  lineNumbers = new Uint32Array(0);
  readonly keys = new FieldKeys();
  #newSeries: ParsedSeries[] = [];
  #lastKeys: readonly string[] = [];
  readonly #dictionary: SeriesDictionary;
  /** Dictionary entry of each series. */
  readonly #entries: number[] = [];
  /** Columns in the order of their first use in the body at hand. */
  #active: FieldColumn[] = [];

  constructor(table: string, parserTable: number, dictionary: SeriesDictionary) {
    this.table = table;
    this.parserTable = parserTable;
    this.#dictionary = dictionary;
  }

  /** Numbers a series that the dictionary does not know, and returns its entry there. */
  addSeries(added: { hash: number; text: Uint8Array; series: SeriesText }): number {
    const number = this.#entries.length;
    const entry = this.#dictionary.add(added.hash, added.text, this.parserTable, number);
    this.#entries.push(entry);
    const { tagValues } = added.series;
    this.#newSeries.push({ tagKeys: this.#sharedKeys(added.series.tagKeys), tagValues });
    return entry;
  }

  /** One array for all series with the same keys in the same order: millions of series have a handful of these. */
  #sharedKeys(keys: readonly string[]): readonly string[] {
    const last = this.#lastKeys;
    if (keys === last) return keys;
    const isSame = last.length === keys.length && keys.every((key, i) => key === last[i]);
    if (!isSame) this.#lastKeys = keys;
    return this.#lastKeys;
  }

  /** Text of a series as its first line spelled it, the table's name included. */
  seriesText(series: number): Uint8Array | undefined {
    const entry = this.#entries[series];
    return entry === undefined ? undefined : this.#dictionary.textOf(entry);
  }

  slot(name: string): FieldSlot {
    let slot = this.slots.get(name);
    if (slot === undefined) {
      slot = new FieldSlot(name);
      this.slots.set(name, slot);
    }
    return slot;
  }

  column(slot: FieldSlot, type: FieldValues['type']): FieldColumn {
    const column = slot[type] ?? new FieldColumn(slot.name, type);
    slot[type] = column;
    return column;
  }

  /** Makes a column ready to take the current row. */
  open(column: FieldColumn): void {
    if (!column.isUsed && !this.#active.includes(column)) this.#active.push(column);
    column.open(this.rowCount);
  }

  /** Takes back what a refused line wrote. */
  forgetRow(): void {
    for (const column of this.#active) column.forget(this.rowCount);
    for (const column of this.#active) if (!column.isUsed) column.reset();
    this.#active = this.#active.filter((column) => column.isUsed);
  }

  growRows(): void {
    this.#setCapacity(Math.max(FIRST_CAPACITY, 2 * this.capacity));
  }

  /** Copies the rows out and makes the table ready for the next body. */
  take(): ParsedTable {
    const rowCount = this.rowCount;
    const parsed: ParsedTable = {
      table: this.table,
      parserTable: this.parserTable,
      rowCount,
      times: this.#times.slice(0, rowCount),
      series: this.series.slice(0, rowCount),
      fields: this.#active.map((column) => column.take(rowCount)),
      firstNewSeries: this.#entries.length - this.#newSeries.length,
      newSeries: this.#newSeries,
      lineStarts: this.lineStarts.slice(0, rowCount),
      lineEnds: this.lineEnds.slice(0, rowCount),
      lineNumbers: this.lineNumbers.slice(0, rowCount),
    };
    this.#newSeries = [];
    this.#active = [];
    this.rowCount = 0;
    if (this.capacity > KEPT_ROWS) this.#setCapacity(0);
    return parsed;
  }

  #setCapacity(rows: number): void {
    this.capacity = rows;
    this.#times = resized(new BigInt64Array(rows), this.#times);
    this.timeWords = new Int32Array(this.#times.buffer);
    this.series = resized(new Uint32Array(rows), this.series);
    this.lineStarts = resized(new Uint32Array(rows), this.lineStarts);
    this.lineEnds = resized(new Uint32Array(rows), this.lineEnds);
    this.lineNumbers = resized(new Uint32Array(rows), this.lineNumbers);
  }
}

function resized<T extends Uint32Array | BigInt64Array>(target: T, source: T): T {
  // Both have the one type T; the compiler only sees a union of two `set` methods.
  target.set(source.subarray(0, target.length) as never);
  return target;
}
