/** Rounds up to a power of two, so that bodies of similar sizes share memory. */
export const roomFor = (sizeBytes: number): number => 2 ** Math.ceil(Math.log2(sizeBytes));

/**
 * A pool of memory outside the heap, by size. Fresh memory triggers garbage collections and must be
 * cleared by the system. Memory that is never released is collected as usual.
 */
export class MemoryPool<M extends ArrayBuffer | SharedArrayBuffer = ArrayBuffer> {
  readonly #make: (sizeBytes: number) => M;
  readonly #maxKeptBytes: number;
  readonly #kept = new Map<number, M[]>();
  #keptBytes = 0;

  /** @param maxKeptBytes maximum size of released memory that is kept. */
  constructor(make: (sizeBytes: number) => M, maxKeptBytes: number) {
    this.#make = make;
    this.#maxKeptBytes = maxKeptBytes;
  }

  /** Returns memory of exactly this size, with zeros or the content of an earlier use. */
  take(sizeBytes: number): M {
    const kept = this.#kept.get(sizeBytes)?.pop();
    if (kept === undefined) return this.#make(sizeBytes);
    this.#keptBytes -= sizeBytes;
    return kept;
  }

  /**
   * Returns unused memory to the pool. Returns false if the pool is full; the caller then keeps the
   * memory.
   */
  release(memory: M): boolean {
    const sizeBytes = memory.byteLength;
    if (this.#keptBytes + sizeBytes > this.#maxKeptBytes) return false;
    this.#keptBytes += sizeBytes;
    const kept = this.#kept.get(sizeBytes);
    if (kept === undefined) this.#kept.set(sizeBytes, [memory]);
    else kept.push(memory);
    return true;
  }
}
