import { type Clock, CredentialUncheckable } from '@plinth/kernel';

/**
 * When credentials that are kept in memory were last read from a store that other nodes change as well: one that was
 * revoked elsewhere must not go on for as long as this node is cut off.
 */
export class SharedReading {
  readonly #clock: Clock;
  readonly #maxAgeSec: number;
  #readMs = Number.NEGATIVE_INFINITY;

  /** @param maxAgeSec how long a reading says who may come in; `Infinity` where nobody else changes the store. */
  constructor(clock: Clock, maxAgeSec: number) {
    this.#clock = clock;
    this.#maxAgeSec = maxAgeSec;
  }

  /** Everything was read, by a reading that began at `startMs` of the monotonic clock. */
  note(startMs: number): void {
    this.#readMs = startMs;
  }

  /** Throws `CredentialUncheckable` when what is in memory is too old to say anything. */
  requireRecent(): void {
    const ageSec = (this.#clock.monotonicMs() - this.#readMs) / 1000;
    if (ageSec <= this.#maxAgeSec) return;
    throw new CredentialUncheckable(new Error(`the shared store was not read for ${ageSec} s`));
  }
}
