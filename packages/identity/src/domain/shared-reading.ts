import { type Clock, CredentialUncheckable } from '@plinth/kernel';

/**
 * Tracks when cached credentials were last read from a store to which other nodes also write. A
 * credential revoked elsewhere must not stay valid here while this node is disconnected.
 */
export class SharedReading {
  readonly #clock: Clock;
  readonly #maxAgeSec: number;
  #readMs = Number.NEGATIVE_INFINITY;

  /**
   * @param maxAgeSec how long a reading is valid; `Infinity` if no other node changes the store.
   */
  constructor(clock: Clock, maxAgeSec: number) {
    this.#clock = clock;
    this.#maxAgeSec = maxAgeSec;
  }

  /** Call after a complete read that started at `startMs` of the monotonic clock. */
  note(startMs: number): void {
    this.#readMs = startMs;
  }

  /** Throws `CredentialUncheckable` when the last reading is too old. */
  requireRecent(): void {
    const ageSec = (this.#clock.monotonicMs() - this.#readMs) / 1000;
    if (ageSec <= this.#maxAgeSec) return;
    throw new CredentialUncheckable(
      new Error(`the shared store has not been read for ${ageSec} s`),
    );
  }
}
