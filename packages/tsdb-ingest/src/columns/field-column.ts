import type { FieldValues, ParsedField } from '@plinth/tsdb-model/parsed-body.js';
import type { ColumnAllocator } from './column-allocator.js';

const FIRST_CAPACITY = 16;
/** Maximum size of the string memory that a column keeps between two bodies. */
const KEPT_TEXT_BYTES = 64 * 1024;

/**
 * Values of one field and type while a body is parsed. Reused from body to body; `take` copies the
 * values. To write row r: `if (column.nextRow !== r || r >= column.capacity) column.open(r)`, then
 * the value, then `close(r)`; `undo(r)` reverts it. 64-bit integers are written as two 32-bit
 * words, so that no `bigint` is created per value.
 */
export class FieldColumn {
  readonly name: string;
  readonly type: FieldValues['type'];
  /** int64 and uint64: words 2r (low) and 2r + 1 (high) of row r. */
  words = new Int32Array(0);
  /**
   * The same memory as `words`: slicing this is much cheaper than creating a view of sliced words.
   */
  longs = new BigInt64Array(0);
  doubles = new Float64Array(0);
  /** bool: 0 or 1 for row r. utf8: the concatenated strings. */
  bytes = new Uint8Array(0);
  /** utf8: start of the string of row r. */
  offsets = new Uint32Array(0);
  /** Row after the last one that was written or skipped; -1 if the body has not used the column. */
  nextRow = -1;
  capacity = 0;
  #presentCount = 0;
  #textSize = 0;
  /** One bit per row; allocated once a row lacks the field. */
  #validity: Uint8Array<ArrayBuffer> | undefined;
  #allocate: (rows: number) => void;

  constructor(name: string, type: FieldValues['type']) {
    this.name = name;
    this.type = type;
    this.#allocate = allocator(this);
  }

  get isUsed(): boolean {
    return this.#presentCount > 0;
  }

  /** Makes room for `row`, and marks the rows that were skipped as missing. */
  open(row: number): void {
    if (this.nextRow < 0) this.nextRow = 0;
    if (row >= this.capacity) this.#grow(row + 1);
    if (row > this.nextRow) this.#skipTo(row);
  }

  close(row: number): void {
    this.#presentCount++;
    this.nextRow = row + 1;
    if (this.#validity !== undefined) setBit(this.#validity, row);
  }

  writeText(row: number, source: Uint8Array, start: number, end: number): void {
    const from = this.#textSize;
    const size = from + end - start;
    if (size > this.bytes.length) this.#growText(size);
    if (end - start < 32) {
      for (let at = start, to = from; at < end; at++) this.bytes[to++] = source[at] as number;
    } else this.bytes.set(source.subarray(start, end), from);
    this.offsets[row] = from;
    this.#textSize = size;
  }

  /** Removes the value of the last row, whose line was rejected. Returns false if it had none. */
  undo(row: number): boolean {
    if (this.nextRow !== row + 1) return false;
    this.nextRow = row;
    this.#presentCount--;
    if (this.type === 'utf8') this.#textSize = this.offsets[row] as number;
    if (this.#validity !== undefined) clearBit(this.#validity, row);
    return true;
  }

  /** Copies the column and resets it for the next body, with or without its memory. */
  take(rowCount: number, keepsMemory: boolean, allocator: ColumnAllocator): ParsedField {
    if (this.nextRow < rowCount) {
      if (rowCount > this.capacity) this.#grow(rowCount);
      this.#skipTo(rowCount);
    }
    const validity = this.#validity?.slice(0, (rowCount + 7) >> 3);
    const field = { name: this.name, data: this.#takeData(rowCount, allocator), validity };
    this.reset(keepsMemory);
    return field;
  }

  reset(keepsMemory: boolean): void {
    this.nextRow = -1;
    this.#presentCount = 0;
    this.#textSize = 0;
    this.#validity = undefined;
    if (!keepsMemory) {
      this.capacity = 0;
      this.#allocate(0);
    }
    const isText = this.type === 'utf8';
    if (isText && (!keepsMemory || this.bytes.length > KEPT_TEXT_BYTES))
      this.bytes = new Uint8Array(0);
  }

  #takeData(rowCount: number, allocator: ColumnAllocator): FieldValues {
    switch (this.type) {
      case 'float64':
        return { type: 'float64', values: allocator.doubles(this.doubles, rowCount) };
      case 'int64':
        return { type: 'int64', values: allocator.longs(this.longs, rowCount) };
      case 'uint64': {
        const { buffer, byteOffset } = allocator.longs(this.longs, rowCount);
        return { type: 'uint64', values: new BigUint64Array(buffer, byteOffset, rowCount) };
      }
      case 'bool':
        return { type: 'bool', values: this.bytes.slice(0, rowCount) };
      case 'utf8': {
        const offsets = this.offsets.slice(0, rowCount + 1);
        offsets[rowCount] = this.#textSize;
        return { type: 'utf8', offsets, bytes: this.bytes.slice(0, this.#textSize) };
      }
    }
  }

  #skipTo(row: number): void {
    if (this.#validity === undefined) {
      this.#validity = new Uint8Array((this.capacity + 7) >> 3);
      for (let before = 0; before < this.nextRow; before++) setBit(this.#validity, before);
    }
    if (this.type === 'utf8') this.offsets.fill(this.#textSize, this.nextRow, row);
    this.nextRow = row;
  }

  #grow(rows: number): void {
    this.capacity = Math.max(FIRST_CAPACITY, 2 * this.capacity, rows);
    this.#allocate(this.capacity);
    if (this.#validity === undefined) return;
    const grown = new Uint8Array((this.capacity + 7) >> 3);
    grown.set(this.#validity);
    this.#validity = grown;
  }

  #growText(size: number): void {
    const grown = new Uint8Array(Math.max(256, 2 * this.bytes.length, size));
    grown.set(this.bytes.subarray(0, this.#textSize));
    this.bytes = grown;
  }
}

/**
 * Returns a function that resizes the arrays of the column's type and keeps the values that fit.
 */
function allocator(column: FieldColumn): (rows: number) => void {
  switch (column.type) {
    case 'float64':
      return (rows) => {
        const old = column.doubles;
        column.doubles = new Float64Array(rows);
        column.doubles.set(old.subarray(0, rows));
      };
    case 'int64':
    case 'uint64':
      return (rows) => {
        const old = column.longs;
        column.longs = new BigInt64Array(rows);
        column.longs.set(old.subarray(0, rows));
        column.words = new Int32Array(column.longs.buffer);
      };
    case 'bool':
      return (rows) => {
        const old = column.bytes;
        column.bytes = new Uint8Array(rows);
        column.bytes.set(old.subarray(0, rows));
      };
    case 'utf8':
      return (rows) => {
        const old = column.offsets;
        // One more than rows, for the end of the last string.
        column.offsets = new Uint32Array(rows + 1);
        column.offsets.set(old.subarray(0, rows + 1));
      };
  }
}

function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] as number) | (1 << (index & 7));
}

function clearBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] as number) & ~(1 << (index & 7));
}
