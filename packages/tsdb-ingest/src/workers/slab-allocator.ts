import { MemoryPool, roomFor } from '@plinth/tsdb-model/memory/memory-pool.js';
import type { ColumnAllocator } from '../columns/column-allocator.js';

/** Columns of smaller bodies are copied and garbage-collected: a slab costs more than it saves. */
const MIN_SLAB_BYTES = 64 * 1024;
/** Memory kept for later bodies; returned slabs beyond this are dropped. */
export const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Each column starts at a multiple of the widest number. */
const ALIGNMENT = 8;

/** Stores the numbers of one body in one buffer, a slab, which is returned for later bodies. */
export class SlabAllocator implements ColumnAllocator {
  readonly #pool = new MemoryPool((sizeBytes) => new ArrayBuffer(sizeBytes), MAX_KEPT_BYTES);
  #slab: ArrayBuffer | undefined;
  #end = 0;

  begin(sizeBytes: number): void {
    this.#end = 0;
    this.#slab = sizeBytes < MIN_SLAB_BYTES ? undefined : this.#pool.take(roomFor(sizeBytes));
  }

  /**
   * Returns the slab with the columns since `begin`, now owned by the caller; `undefined` if there
   * is none.
   */
  takeSlab(): ArrayBuffer | undefined {
    const slab = this.#slab;
    this.#slab = undefined;
    return slab;
  }

  /** Accepts a slab for reuse after the last use of its columns. */
  release(slab: ArrayBuffer): void {
    this.#pool.release(slab);
  }

  numbers(source: Uint32Array<ArrayBuffer>, count: number): Uint32Array {
    const at = this.#place(count * 4);
    if (this.#slab === undefined || at === undefined) return source.slice(0, count);
    const target = new Uint32Array(this.#slab, at, count);
    target.set(source.subarray(0, count));
    return target;
  }

  longs(source: BigInt64Array<ArrayBuffer>, count: number): BigInt64Array {
    const at = this.#place(count * 8);
    if (this.#slab === undefined || at === undefined) return source.slice(0, count);
    const target = new BigInt64Array(this.#slab, at, count);
    target.set(source.subarray(0, count));
    return target;
  }

  doubles(source: Float64Array<ArrayBuffer>, count: number): Float64Array {
    const at = this.#place(count * 8);
    if (this.#slab === undefined || at === undefined) return source.slice(0, count);
    const target = new Float64Array(this.#slab, at, count);
    target.set(source.subarray(0, count));
    return target;
  }

  #place(sizeBytes: number): number | undefined {
    const at = this.#end;
    if (this.#slab === undefined || at + sizeBytes > this.#slab.byteLength) return undefined;
    this.#end = Math.ceil((at + sizeBytes) / ALIGNMENT) * ALIGNMENT;
    return at;
  }
}
