/** Labels by name, in byte order, without empty ones. */
export type Labels = readonly (readonly [name: string, value: string])[];

/**
 * Consecutive samples of a series, oldest first; valid until the next piece is read. `words` has two words for each value, the low one
 * first.
 */
export interface SamplePiece {
  readonly labels: Labels;
  readonly count: number;
  readonly timesMs: Float64Array;
  readonly words: Uint32Array;
}

/** Bit patterns of NaNs. Source: Prometheus, `value.StaleNaN` and `value.NormalNaN`. */
const STALE = [2, 0x7ff00000] as const;
const NORMAL = [1, 0x7ff80000] as const;

const FIRST_SAMPLES = 1024;

/** Collects the samples of one piece after the other; a piece is valid until the next one. */
export class PieceWriter {
  #timesMs = new Float64Array(FIRST_SAMPLES);
  #values = new Float64Array(FIRST_SAMPLES);
  #words = new Uint32Array(this.#values.buffer);
  #count = 0;

  start(maxCount: number): void {
    this.#count = 0;
    if (maxCount <= this.#values.length) return;
    this.#timesMs = new Float64Array(2 * maxCount);
    this.#values = new Float64Array(2 * maxCount);
    this.#words = new Uint32Array(this.#values.buffer);
  }

  add(timeMs: number, value: number): void {
    this.#values[this.#place(timeMs)] = value;
  }

  addNaN(timeMs: number, isStale: boolean): void {
    this.#words.set(isStale ? STALE : NORMAL, 2 * this.#place(timeMs));
  }

  /** Returns the index for a sample. If several rows are within a millisecond, only the last one is kept. */
  #place(timeMs: number): number {
    if (this.#count === 0 || this.#timesMs[this.#count - 1] !== timeMs) this.#count++;
    this.#timesMs[this.#count - 1] = timeMs;
    return this.#count - 1;
  }

  finish(labels: Labels): SamplePiece {
    return { labels, count: this.#count, timesMs: this.#timesMs, words: this.#words };
  }
}
