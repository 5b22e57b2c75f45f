import type { EngineDeps } from '../engine-deps.js';
import type { Flusher } from '../flush/flusher.js';
import type { WriteBuffer } from '../write/write-buffer.js';

/** So much of the memory for rows may be filled by the log before some go to files; a short log is read without a flush. */
const MEMORY_SHARE = 1 / 4;

/**
 * Flushes while a start reads the log, so that its rows need no more memory than while they were written. The log has all of them
 * until the last flush: a start that ends before it writes some points to files again, with the same values.
 */
export class ReplayFlushes {
  readonly #needs: EngineDeps;
  readonly #buffer: WriteBuffer;
  readonly #flusher: Flusher;
  readonly #flushBytes: number;
  /** A flush has failed: the rest stays in memory, and the log has it. */
  #hasFailed = false;

  constructor(
    needs: EngineDeps,
    parts: { readonly buffer: WriteBuffer; readonly flusher: Flusher },
  ) {
    const { flushBytes, hardLimitBytes } = needs.settings;
    this.#needs = needs;
    this.#buffer = parts.buffer;
    this.#flusher = parts.flusher;
    this.#flushBytes = Math.max(flushBytes, hardLimitBytes * MEMORY_SHARE);
  }

  /**
   * After a record of `file`, of which others may follow; `undefined`: nothing is due. Without room on the disk the rows stay in
   * memory, as do those of a flush that fails.
   */
  flushWhenDue(file: number): Promise<void> | undefined {
    const { generationBytes } = this.#buffer;
    if (this.#hasFailed || generationBytes < this.#flushBytes) return undefined;
    if (this.#needs.hasRoomFor?.(generationBytes) === false) return undefined;
    return this.#orKeep(() => this.#flusher.flushReplayed(file - 1));
  }

  /** After the last record. */
  async end(): Promise<void> {
    if (!this.#hasFailed) await this.#orKeep(() => this.#flusher.endReplay());
  }

  async #orKeep(flush: () => Promise<void>): Promise<void> {
    try {
      await flush();
    } catch (error) {
      this.#hasFailed = true;
      this.#needs.report.flushFailed(error, 0);
    }
  }
}
