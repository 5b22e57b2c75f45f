/** What a chunk's arrays lie in, for a later chunk: the runtime takes fresh memory of arrays for a reason to collect. */
export class SpareMemory {
  readonly #spare: ArrayBuffer[] = [];

  /** Memory for the arrays of one chunk, and what gives it back when nobody looks at these any more. */
  forChunk(): { take(sizeBytes: number): ArrayBuffer; release(): void } {
    const taken: ArrayBuffer[] = [];
    return {
      take: (sizeBytes) => {
        const memory = this.#take(sizeBytes);
        taken.push(memory);
        return memory;
      },
      // What was given back once is not there a second time.
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
