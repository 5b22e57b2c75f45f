import type { EngineDeps } from '../engine-deps.js';
import type { Flusher } from '../flush/flusher.js';
import type { WriteSequencer } from '../write/write-sequencer.js';

/**
 * Fraction of the row memory that replay may fill before it flushes; a short log is replayed
 * without a flush.
 */
const MEMORY_SHARE = 1 / 4;

/**
 * Flushes during replay, so that replay needs no more memory than the original writes. The log
 * keeps all rows until the last flush. If startup is interrupted, some points are written to files again with the same values.
 */
export class ReplayFlushes {
  readonly #deps: EngineDeps;
  readonly #sequencer: WriteSequencer;
  readonly #flusher: Flusher;
  readonly #flushBytes: number;
  /** True after a failed flush. The remaining rows stay in memory and in the log. */
  #hasFailed = false;

  constructor(
    deps: EngineDeps,
    parts: { readonly sequencer: WriteSequencer; readonly flusher: Flusher },
  ) {
    const { flushBytes, hardLimitBytes } = deps.settings;
    this.#deps = deps;
    this.#sequencer = parts.sequencer;
    this.#flusher = parts.flusher;
    this.#flushBytes = Math.max(flushBytes, hardLimitBytes * MEMORY_SHARE);
  }

  /**
   * Called after a record of `file`, which may have more records; `undefined` if no flush is due.
   * If the disk is full or a flush fails, the rows stay in memory.
   */
  flushWhenDue(file: number): Promise<void> | undefined {
    const { generationBytes } = this.#sequencer;
    if (this.#hasFailed || generationBytes < this.#flushBytes) return undefined;
    if (this.#deps.hasSpaceFor?.(generationBytes) === false) return undefined;
    return this.#orKeep(() => this.#flusher.flushReplayed(file - 1));
  }

  /** Called after the last record. */
  async end(): Promise<void> {
    if (!this.#hasFailed) await this.#orKeep(() => this.#flusher.endReplay());
  }

  async #orKeep(flush: () => Promise<void>): Promise<void> {
    try {
      await flush();
    } catch (error) {
      this.#hasFailed = true;
      this.#deps.report.flushFailed(error, 0);
    }
  }
}
