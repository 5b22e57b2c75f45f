import type { Logger } from '@plinth/kernel';

/** A later use within this interval is not recorded, so most requests cost only a comparison. */
export const LAST_USED_ACCURACY_MS = 60_000;
/** Rows per transaction; bounded because other writers wait for it. */
const BATCH_COUNT = 500;

type Use<Id> = readonly [id: Id, usedMs: number];

/**
 * Last-used time of each credential, in memory and stored by `flush`. Contains only existing
 * credentials, so their number bounds its size. Uses since the last flush are lost when the process
 * is killed.
 */
export class LastUsed<Id extends string | number> {
  readonly #store: (uses: readonly Use<Id>[]) => Promise<void>;
  readonly #log: Logger | undefined;
  readonly #used = new Map<Id, number>();
  readonly #unstored = new Map<Id, number>();
  #flushing: Promise<void> | undefined;

  /**
   * @param store keeps the later of the stored time and the given one; ignores deleted credentials.
   */
  constructor(store: (uses: readonly Use<Id>[]) => Promise<void>, log?: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** Returns the last-used time; `undefined` if no use is known. */
  of(id: Id): number | undefined {
    return this.#used.get(id);
  }

  note(id: Id, nowMs: number): void {
    const usedMs = this.#used.get(id);
    if (usedMs !== undefined && nowMs - usedMs < LAST_USED_ACCURACY_MS) return;
    this.#used.set(id, nowMs);
    this.#unstored.set(id, nowMs);
  }

  /** Call when the credential was deleted or has a new secret. */
  forget(id: Id): void {
    this.#used.delete(id);
    this.#unstored.delete(id);
  }

  /** Loads the stored last-used times of all credentials, including uses on other nodes. */
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

  /** Stores the uses recorded since the last flush. Failed writes are retried at the next flush. */
  async flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    // Sorted, so that transactions of several nodes do not deadlock.
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
      this.#log?.warn({ err, count: this.#unstored.size }, 'cannot store last-used times');
    }
  }
}
