/** Rounds up to a power of two, so that bodies of similar sizes share memory. */
export const roomFor = (sizeBytes: number): number => 2 ** Math.ceil(Math.log2(sizeBytes));

/**
 * A pool of memory outside the heap, by size. Fresh memory triggers garbage collections and must be
 * cleared by the system. Memory that is never released is collected as usual.
 */
export class MemoryPool<M extends ArrayBuffer | SharedArrayBuffer = ArrayBuffer> {
  readonly #make: (sizeBytes: number) => M;
  readonly #maxKeptBytes: number;
  readonly #pooled = new Map<number, M[]>();
  #keptBytes = 0;

  /** @param maxKeptBytes maximum size of released memory that is kept. */
  constructor(make: (sizeBytes: number) => M, maxKeptBytes: number) {
    this.#make = make;
    this.#maxKeptBytes = maxKeptBytes;
  }

  /** Returns memory of exactly this size, with zeros or the content of an earlier use. */
  take(sizeBytes: number): M {
    const pooled = this.#pooled.get(sizeBytes)?.pop();
    if (pooled === undefined) return this.#make(sizeBytes);
    this.#keptBytes -= sizeBytes;
    return pooled;
  }

  /**
   * Returns unused memory to the pool. Returns false if the pool is full; the caller then keeps the
   * memory.
   */
  release(memory: M): boolean {
    const sizeBytes = memory.byteLength;
    if (this.#keptBytes + sizeBytes > this.#maxKeptBytes) return false;
    this.#keptBytes += sizeBytes;
    const pooled = this.#pooled.get(sizeBytes);
    if (pooled === undefined) this.#pooled.set(sizeBytes, [memory]);
    else pooled.push(memory);
    return true;
  }
}
