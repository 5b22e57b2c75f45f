import type { ColumnMemory } from '../columns/column-memory.js';

/** Columns of smaller bodies are copied and collected: a slab costs more than it saves. */
const MIN_SLAB_BYTES = 64 * 1024;
/** Kept for later bodies; what comes back beyond it is dropped. */
export const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Each column begins at a multiple of the widest number. */
const ALIGNMENT = 8;

/**
 * The numbers of one body in one piece of memory, a slab, that comes back for later bodies: the runtime counts fresh memory
 * outside of its heap as a reason to collect garbage, and the system has to clear it.
 */
export class SlabMemory implements ColumnMemory {
  /** By size, a power of two. */
  readonly #kept = new Map<number, ArrayBuffer[]>();
  #keptBytes = 0;
  #slab: ArrayBuffer | undefined;
  #end = 0;

  begin(sizeBytes: number): void {
    this.#end = 0;
    this.#slab = undefined;
    if (sizeBytes < MIN_SLAB_BYTES) return;
    const capacity = 2 ** Math.ceil(Math.log2(sizeBytes));
    this.#slab = this.#kept.get(capacity)?.pop();
    if (this.#slab === undefined) this.#slab = new ArrayBuffer(capacity);
    else this.#keptBytes -= capacity;
  }

  /** The slab with the columns since `begin`, which is the caller's from here on; `undefined`: there is none. */
  takeSlab(): ArrayBuffer | undefined {
    const slab = this.#slab;
    this.#slab = undefined;
    return slab;
  }

  /** Nobody looks at the columns on `slab` any more. */
  giveBack(slab: ArrayBuffer): void {
    const capacity = slab.byteLength;
    if (this.#keptBytes + capacity > MAX_KEPT_BYTES) return;
    this.#keptBytes += capacity;
    const kept = this.#kept.get(capacity);
    if (kept === undefined) this.#kept.set(capacity, [slab]);
    else kept.push(slab);
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
