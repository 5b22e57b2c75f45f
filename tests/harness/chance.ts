/** Deterministic random choices for tests: the same seed results in the same choices. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Uniform in [0, 1). The generator is mulberry32. */
  float(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Integer in [from, to]. */
  between(from: number, to: number): number {
    return from + Math.floor(this.float() * (to - from + 1));
  }

  happens(probability: number): boolean {
    return this.float() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)] as T; // lists are not empty
  }

  bytes(sizeBytes: number): Buffer {
    return Buffer.from(Array.from({ length: sizeBytes }, () => this.between(0, 255)));
  }
}
