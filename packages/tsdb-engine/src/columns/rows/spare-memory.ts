/**
 * Reuses the buffers of released chunks. Allocating new array memory triggers the garbage
 * collector.
 */
export class SpareMemory {
  readonly #spare: ArrayBuffer[] = [];

  /**
   * Returns the memory for the arrays of one chunk, and a function that releases it once the chunk
   * has been sent.
   */
  forChunk(): { take(sizeBytes: number): ArrayBuffer; release(): void } {
    const taken: ArrayBuffer[] = [];
    return {
      take: (sizeBytes) => {
        const memory = this.#take(sizeBytes);
        taken.push(memory);
        return memory;
      },
      // Releasing twice is harmless.
      release: () => {
        this.#spare.push(...taken.splice(0));
      },
    };
  }

  #take(sizeBytes: number): ArrayBuffer {
    const spare = this.#spare.pop();
    return spare !== undefined && spare.byteLength >= sizeBytes
      ? spare
      : new ArrayBuffer(sizeBytes);
  }
}
