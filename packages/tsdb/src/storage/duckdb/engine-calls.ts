import { FairSemaphore } from '../../model/fair-semaphore.js';
import type { QueryOwner } from '../../model/query-owner.js';

/**
 * Lets so many calls of the engine run at a time. Each occupies a thread of the pool that also reads and syncs files, until the
 * engine has answered, whoever still waits for that.
 */
export class EngineCalls {
  readonly #places: FairSemaphore;

  constructor(count: number) {
    this.#places = new FairSemaphore(count);
  }

  /** Rejects with the end of the query when that comes before its turn. */
  async run<T>(call: () => Promise<T>, queryOwner: Partial<QueryOwner> = {}): Promise<T> {
    const { owner } = queryOwner;
    if (!this.#places.takeAtOnce(owner)) await this.#places.take(queryOwner);
    try {
      return await call();
    } finally {
      this.#places.give(owner);
    }
  }
}

/** A half of the pool for queries, a sixteenth for flushes and loads; the writer takes one, and the rest is for files. */
export function callsOfPool(poolSize: number): {
  readonly queries: EngineCalls;
  readonly background: EngineCalls;
} {
  return {
    queries: new EngineCalls(Math.max(1, Math.floor(poolSize / 2))),
    background: new EngineCalls(Math.max(1, Math.floor(poolSize / 16))),
  };
}
