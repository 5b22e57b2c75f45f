import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import type { Steps } from '@plinth/tsdb-model/time-sliced-task.js';

/** Metadata and buffers of the columns in a record batch. Source: Arrow, "RecordBatch message". */
export interface BatchParts {
  readonly nodes: { readonly rowCount: number; readonly nullCount: number }[];
  /** Buffers of all columns, depth first; valid until the builder appends the next row. */
  readonly buffers: Uint8Array[];
}

/** Collects the values of one column for the next record batch. */
export interface ColumnBuilder {
  readonly rowCount: number;
  /** Appends the rows `[from, to)` of a chunk's column. */
  append(vector: ColumnVector, from: number, to: number): void;
  /**
   * Appends one value of a nested value, in the representation of the `SqlType` table. `null` and
   * `undefined` are NULL.
   */
  appendCell(cell: unknown): void;
  /** Like `appendCell`, in steps, for nested values: a list can contain the values of a complete table. */
  cellInSteps?(cell: unknown): Steps<void>;
  /** Adds the collected values to `parts` and resets the builder. */
  take(parts: BatchParts): void;
}

/** A growing byte buffer that is reused for the next batch. */
export class GrowingBytes {
  bytes = Buffer.allocUnsafeSlow(256);
  length = 0;

  /** Ensures space for `count` more bytes and returns their index. */
  reserve(count: number): number {
    const needed = this.length + count;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    return this.length;
  }

  append(piece: Uint8Array): void {
    const at = this.reserve(piece.length);
    this.bytes.set(piece, at);
    this.length += piece.length;
  }

  /** Returns the collected bytes. The next `append` may overwrite them. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.length = 0;
    // Shrink after a huge value, so that a long stream does not keep the memory.
    if (this.bytes.length > MAX_KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(256);
    return taken;
  }
}

const MAX_KEPT_BYTES = 1_048_576;
const NO_BYTES = new Uint8Array(0);

/** Validity bitmap of a column. It is allocated when the first NULL is appended. */
export class Validity {
  rowCount = 0;
  nullCount = 0;
  #bits: Uint8Array | undefined;

  appendRange(validity: Uint8Array | undefined, from: number, to: number): void {
    const count = to - from;
    if (validity === undefined) {
      if (this.#bits !== undefined) this.#fill(count);
      this.rowCount += count;
      return;
    }
    const bits = this.#ensure(this.rowCount + count);
    let at = this.rowCount;
    if ((from & 7) === 0 && (at & 7) === 0) {
      // Copies complete bytes; bits after the last row are cut when the batch is taken.
      const source = validity.subarray(from >> 3, (to + 7) >> 3);
      bits.set(source, at >> 3);
      this.nullCount += count - countBits(source, count);
    } else {
      for (let row = from; row < to; row++, at++) {
        if ((((validity[row >> 3] as number) >> (row & 7)) & 1) === 0) {
          this.nullCount++;
          bits[at >> 3] = (bits[at >> 3] as number) & ~(1 << (at & 7));
        } else bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
      }
    }
    this.rowCount += count;
  }

  appendOne(isValid: boolean): void {
    if (isValid) {
      if (this.#bits !== undefined) this.#fill(1);
    } else {
      const bits = this.#ensure(this.rowCount + 1);
      const at = this.rowCount;
      bits[at >> 3] = (bits[at >> 3] as number) & ~(1 << (at & 7));
      this.nullCount++;
    }
    this.rowCount++;
  }

  /** Adds the node and the bitmap to the parts. */
  take({ nodes, buffers }: BatchParts): void {
    nodes.push({ rowCount: this.rowCount, nullCount: this.nullCount });
    const hasNulls = this.nullCount > 0 && this.#bits !== undefined;
    const bits = hasNulls ? this.#bits?.slice(0, (this.rowCount + 7) >> 3) : undefined;
    buffers.push(bits ?? NO_BYTES);
    this.#bits = undefined;
    this.rowCount = 0;
    this.nullCount = 0;
  }

  #fill(count: number): void {
    const bits = this.#ensure(this.rowCount + count);
    for (let at = this.rowCount; at < this.rowCount + count; ) {
      if ((at & 7) === 0 && this.rowCount + count - at >= 8) {
        bits[at >> 3] = 255;
        at += 8;
      } else {
        bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
        at++;
      }
    }
  }

  /** Ensures space for `rowCount` bits. On allocation, all existing rows are marked as valid. */
  #ensure(rowCount: number): Uint8Array {
    const size = (rowCount + 7) >> 3;
    if (this.#bits === undefined) {
      this.#bits = new Uint8Array(Math.max(64, size * 2));
      this.#bits.fill(255, 0, (this.rowCount + 7) >> 3);
    } else if (size > this.#bits.length) {
      const larger = new Uint8Array(size * 2);
      larger.set(this.#bits);
      this.#bits = larger;
    }
    return this.#bits;
  }
}

/** Counts the set bits among the first `count`. */
function countBits(bytes: Uint8Array, count: number): number {
  let sum = 0;
  const whole = count >> 3;
  for (let i = 0; i < whole; i++) sum += BITS[bytes[i] as number] as number;
  if ((count & 7) !== 0) sum += BITS[(bytes[whole] as number) & ((1 << (count & 7)) - 1)] as number;
  return sum;
}

const BITS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>= 1) count += rest & 1;
  return count;
});
