import { FIELD_TYPES } from '@plinth/tsdb-model/columns/column.js';
import { MAX_TEXT_BYTES } from '@plinth/tsdb-model/database/limits.js';
import type { FieldColumn } from '../columns/field-column.js';
import type { FieldKey } from '../columns/field-keys.js';
import type { FieldSlot } from '../columns/field-slot.js';
import type { TableRows } from '../columns/table-rows.js';
import { FloatReader, isDigit, storeDigits } from './numbers.js';

const NEWLINE = 10;
const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const LOWER_I = 105;
const LOWER_U = 117;
const BACKSLASH = 92;
/** This many digits fit in 31 bits. */
const SMALL_DIGITS = 9;
const NOT_FAST = -1;

/** Boolean literals by their first letter. */
const BOOL_WORDS: Readonly<Record<number, readonly string[]>> = {
  116: ['true'],
  84: ['True', 'TRUE'],
  102: ['false'],
  70: ['False', 'FALSE'],
};

/**
 * Parses fields with known names and values without escapes directly into columns. Returns -1 for
 * everything else, including errors: the slow path then parses the line again and produces the
 * message.
 * Array accesses need no bounds checks, because every line ends with a newline, where every loop
 * stops.
 */
export class FastFields {
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** Number of the current attempt to read a line, increased by `read` and never reset; see `FieldSlot.attempt`. */
  #attempt = 0;
  /** Fields of the current line, so that they can be undone. */
  readonly #slots: FieldSlot[] = [];
  #slotCount = 0;
  readonly #float = new FloatReader();

  load(bytes: Uint8Array, view: DataView): void {
    this.#bytes = bytes;
    this.#view = view;
  }

  /**
   * Starting at `start`, writes the fields to the table's current row. @returns the index after them, or
   * -1.
   */
  read(table: TableRows, start: number): number {
    this.#attempt++;
    this.#slotCount = 0;
    let key = this.#keyAt(table, table.keys.first, start);
    if (key === undefined) return NOT_FAST;
    table.keys.first = key;
    for (let at = start; ; ) {
      const slot = key.slot;
      if (slot.attempt === this.#attempt) return NOT_FAST;
      slot.attempt = this.#attempt;
      this.#slots[this.#slotCount++] = slot;
      at = this.#value(table, slot, at + key.size);
      if (at < 0 || this.#bytes[at] !== COMMA) return at;
      at++;
      const next: FieldKey | undefined = this.#keyAt(table, key.follower, at);
      if (next === undefined) return NOT_FAST;
      key.follower = next;
      key = next;
    }
  }

  /** Undoes the last `read`. */
  undo(table: TableRows): void {
    for (let i = 0; i < this.#slotCount; i++) {
      const slot = this.#slots[i] as FieldSlot; // filled by `read`
      for (const type of FIELD_TYPES) {
        const column = slot[type];
        if (column !== undefined) table.undo(column);
      }
    }
  }

  #keyAt(table: TableRows, guess: FieldKey | undefined, at: number): FieldKey | undefined {
    if (
      guess !== undefined &&
      at + guess.size <= this.#bytes.length &&
      guess.isAt(this.#view, at)
    ) {
      return guess;
    }
    return table.keys.find(this.#bytes, this.#view, at);
  }

  #value(table: TableRows, slot: FieldSlot, start: number): number {
    const bytes = this.#bytes;
    const isNegative = bytes[start] === MINUS;
    const digits = isNegative ? start + 1 : start;
    let at = digits;
    let value = 0;
    let byte = bytes[at] as number;
    for (; isDigit(byte); byte = bytes[++at] as number) value = (value * 10 + (byte - 48)) | 0;
    if (at === digits) return isNegative ? NOT_FAST : this.#word(table, slot, start);
    if (byte === LOWER_I && at - digits <= SMALL_DIGITS) {
      const row = table.rowCount;
      const column = slot.int64 ?? table.column(slot, 'int64');
      if (!this.#open(table, column)) return NOT_FAST;
      const low = isNegative ? -value | 0 : value;
      column.words[2 * row] = low;
      column.words[2 * row + 1] = low >> 31;
      column.close(row);
      return at + 1;
    }
    if (byte === LOWER_I || byte === LOWER_U) return this.#integer(table, slot, start, at);
    return this.#floatValue(table, slot, isNegative, digits);
  }

  #integer(table: TableRows, slot: FieldSlot, start: number, end: number): number {
    const isUnsigned = this.#bytes[end] === LOWER_U;
    const isNegative = this.#bytes[start] === MINUS;
    if (isUnsigned && isNegative) return NOT_FAST;
    const row = table.rowCount;
    const column = table.column(slot, isUnsigned ? 'uint64' : 'int64');
    if (!this.#open(table, column)) return NOT_FAST;
    const target = { words: column.words, index: 2 * row, isUnsigned };
    const digits = { bytes: this.#bytes, start: isNegative ? start + 1 : start, end };
    const isStored = storeDigits(target, digits, isNegative);
    column.close(row);
    return isStored ? end + 1 : NOT_FAST;
  }

  #floatValue(table: TableRows, slot: FieldSlot, isNegative: boolean, digits: number): number {
    const end = this.#float.read(this.#bytes, digits);
    if (end < 0) return NOT_FAST;
    const row = table.rowCount;
    const column = slot.float64 ?? table.column(slot, 'float64');
    if (!this.#open(table, column)) return NOT_FAST;
    column.doubles[row] = isNegative ? -this.#float.value : this.#float.value;
    column.close(row);
    return end;
  }

  /** Parses a string without escapes and newlines, or a boolean. */
  #word(table: TableRows, slot: FieldSlot, start: number): number {
    const bytes = this.#bytes;
    if (bytes[start] !== QUOTE) return this.#bool(table, slot, start);
    let end = start + 1;
    for (let byte = bytes[end]; byte !== QUOTE; byte = bytes[++end]) {
      if (byte === NEWLINE || byte === BACKSLASH) return NOT_FAST;
    }
    if (end - start > MAX_TEXT_BYTES) return NOT_FAST;
    const row = table.rowCount;
    const column = slot.utf8 ?? table.column(slot, 'utf8');
    if (!this.#open(table, column)) return NOT_FAST;
    column.writeText(row, bytes, start + 1, end);
    column.close(row);
    return end + 1;
  }

  #bool(table: TableRows, slot: FieldSlot, start: number): number {
    const first = this.#bytes[start] as number;
    const words = BOOL_WORDS[first];
    if (words === undefined) return NOT_FAST;
    const long = words.find((word) => this.#isWordAt(word, start));
    const row = table.rowCount;
    const column = slot.bool ?? table.column(slot, 'bool');
    if (!this.#open(table, column)) return NOT_FAST;
    column.bytes[row] = first === 116 || first === 84 ? 1 : 0;
    column.close(row);
    return start + (long?.length ?? 1);
  }

  #isWordAt(word: string, start: number): boolean {
    for (let i = 1; i < word.length; i++) {
      if (this.#bytes[start + i] !== word.charCodeAt(i)) return false;
    }
    return true;
  }

  #open(table: TableRows, column: FieldColumn): boolean {
    const row = table.rowCount;
    return (column.nextRow === row && row < column.capacity) || table.open(column);
  }
}
