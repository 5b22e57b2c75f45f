/** Smallest power of two that is not below `sizeBytes`: bodies of similar sizes share memory. */
export const roomFor = (sizeBytes: number): number => 2 ** Math.ceil(Math.log2(sizeBytes));

/**
 * Memory outside of the heap that is used again and again, by size: the runtime counts fresh memory as a reason to collect garbage,
 * and the system has to clear it. What is never given back is collected like any other.
 */
export class MemoryPool<M extends ArrayBuffer | SharedArrayBuffer = ArrayBuffer> {
  readonly #make: (sizeBytes: number) => M;
  readonly #maxKeptBytes: number;
  readonly #kept = new Map<number, M[]>();
  #keptBytes = 0;

  /** @param maxKeptBytes for later use. */
  constructor(make: (sizeBytes: number) => M, maxKeptBytes: number) {
    this.#make = make;
    this.#maxKeptBytes = maxKeptBytes;
  }

  /** Of exactly this size; contents are those of earlier use, or zeros. */
  take(sizeBytes: number): M {
    const kept = this.#kept.get(sizeBytes)?.pop();
    if (kept === undefined) return this.#make(sizeBytes);
    this.#keptBytes -= sizeBytes;
    return kept;
  }

  /** Nobody looks at `memory` any more. False: there is enough of it, and it is the caller's. */
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
