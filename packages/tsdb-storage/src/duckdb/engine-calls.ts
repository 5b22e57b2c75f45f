import { FairSemaphore } from '@plinth/tsdb-model/fair-semaphore.js';
import type { QueryOwner } from '@plinth/tsdb-model/query/query-owner.js';

/**
 * Limits the number of concurrent DuckDB calls. Each call occupies a thread of the libuv pool,
 * which also reads and syncs files, until DuckDB returns, even if no caller waits for it.
 */
export class EngineCalls {
  readonly #places: FairSemaphore;

  constructor(count: number) {
    this.#places = new FairSemaphore(count);
  }

  /** Rejects if the query ends before its slot is granted. */
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

/**
 * Half of the pool is for queries and a sixteenth for flushes and loads. The writer uses one
 * thread, and the rest is for files.
 */
export function callsOfPool(poolSize: number): {
  readonly queries: EngineCalls;
  readonly background: EngineCalls;
} {
  return {
    queries: new EngineCalls(Math.max(1, Math.floor(poolSize / 2))),
    background: new EngineCalls(Math.max(1, Math.floor(poolSize / 16))),
  };
}
