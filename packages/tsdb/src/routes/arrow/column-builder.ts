import type { ColumnVector } from '../../model/columns/result.js';
import type { Steps } from '../../model/time-sliced-task.js';

/** What a record batch says about one column or a part of one, and where its bytes are. Source: Arrow, "RecordBatch message". */
export interface BatchParts {
  readonly nodes: { readonly rowCount: number; readonly nullCount: number }[];
  /** In the order of the columns, depth first; valid until the builder takes the next row. */
  readonly buffers: Uint8Array[];
}

/** Gathers the values of one column until they are taken as a part of a record batch. */
export interface ColumnBuilder {
  readonly rowCount: number;
  /** Rows `[from, to)` of a chunk's column. */
  append(vector: ColumnVector, from: number, to: number): void;
  /** One value inside a nested one, in the form of `SqlType`'s table; `null` and `undefined` are NULL. */
  appendCell(cell: unknown): void;
  /** The same in steps, of columns whose values hold others: a list may hold the values of a whole table. */
  cellInSteps?(cell: unknown): Steps<void>;
  /** Adds what was gathered and begins anew. */
  take(parts: BatchParts): void;
}

/** Bytes that grow and are used again for the next batch. */
export class GrowingBytes {
  bytes = Buffer.allocUnsafeSlow(256);
  length = 0;

  /** Room for `count` more; their place. */
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

  /** What was gathered; the next `append` may overwrite it. */
  take(): Uint8Array {
    const taken = this.bytes.subarray(0, this.length);
    this.length = 0;
    // One huge value must not hold its room for the rest of a long stream.
    if (this.bytes.length > MAX_KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(256);
    return taken;
  }
}

const MAX_KEPT_BYTES = 1_048_576;
const NO_BYTES = new Uint8Array(0);

/** Which rows of a column are not NULL: a bitmap that is only made when there is a NULL. */
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
      // Whole bytes; bits behind the last row are cut when the batch is taken.
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

  /** Adds the node and the bitmap. */
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

  /** Room for so many rows; all rows up to now are marked. */
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

/** Bits that are set among the first `count`. */
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
