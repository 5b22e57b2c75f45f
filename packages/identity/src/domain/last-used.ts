import type { Logger } from '@plinth/kernel';

/** A later use within this time is not noted: reading is a comparison for nearly all requests. */
export const LAST_USED_ACCURACY_MS = 60_000;
/** Rows of one transaction, which others wait for. */
const BATCH_COUNT = 500;

type Use<Id> = readonly [id: Id, usedMs: number];

/**
 * When each credential was last used: in memory, and stored by `flush`. Contains existing credentials only, so it has their bound.
 * Uses since the last flush are lost when the process is killed.
 */
export class LastUsed<Id extends string | number> {
  readonly #store: (uses: readonly Use<Id>[]) => Promise<void>;
  readonly #log: Logger | undefined;
  readonly #used = new Map<Id, number>();
  readonly #unstored = new Map<Id, number>();
  #flushing: Promise<void> | undefined;

  /** @param store keeps the later of the stored time and the given one; credentials that are gone are ignored. */
  constructor(store: (uses: readonly Use<Id>[]) => Promise<void>, log?: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** `undefined`: never, as far as is known. */
  of(id: Id): number | undefined {
    return this.#used.get(id);
  }

  note(id: Id, nowMs: number): void {
    const usedMs = this.#used.get(id);
    if (usedMs !== undefined && nowMs - usedMs < LAST_USED_ACCURACY_MS) return;
    this.#used.set(id, nowMs);
    this.#unstored.set(id, nowMs);
  }

  /** The credential is gone, or has a new secret. */
  forget(id: Id): void {
    this.#used.delete(id);
    this.#unstored.delete(id);
  }

  /** Takes over what is stored of all credentials, by whichever node. */
  load(stored: Iterable<readonly [id: Id, usedMs: number | undefined]>): void {
    const unstored = [...this.#unstored];
    this.#used.clear();
    this.#unstored.clear();
    const known = new Map(stored);
    for (const [id, usedMs] of known) if (usedMs !== undefined) this.#used.set(id, usedMs);
    for (const [id, usedMs] of unstored) {
      if (!known.has(id)) continue;
      this.#unstored.set(id, usedMs);
      this.#used.set(id, Math.max(usedMs, known.get(id) ?? 0));
    }
  }

  /** Stores what was noted since the last time; what could not be stored is kept for the next time. */
  async flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    // In order, so that transactions of several nodes do not lock each other out.
    const uses = [...this.#unstored].sort(([a], [b]) => (a < b ? -1 : 1));
    try {
      for (let from = 0; from < uses.length; from += BATCH_COUNT) {
        const batch = uses.slice(from, from + BATCH_COUNT);
        await this.#store(batch);
        for (const [id, usedMs] of batch) {
          if (this.#unstored.get(id) === usedMs) this.#unstored.delete(id);
        }
      }
    } catch (err) {
      this.#log?.warn({ err, count: this.#unstored.size }, 'times of last use not stored');
    }
  }
}
