import { FairSemaphore } from '@plinth/tsdb-model/fair-semaphore.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';

/**
 * Limits the number of concurrent DuckDB calls. Each call occupies a thread of the libuv pool,
 * which also reads and syncs files, until DuckDB returns, even if no caller waits for it.
 */
export class DuckDbCallLimiter {
  readonly #slots: FairSemaphore;

  constructor(count: number) {
    this.#slots = new FairSemaphore(count);
  }

  /** Rejects if the query ends before its slot is granted. */
  async run<T>(call: () => Promise<T>, queryContext: Partial<QueryContext> = {}): Promise<T> {
    const { owner } = queryContext;
    if (!this.#slots.tryAcquire(owner)) await this.#slots.acquire(queryContext);
    try {
      return await call();
    } finally {
      this.#slots.release(owner);
    }
  }
}

/**
 * Half of the pool is for queries and a sixteenth for flushes and loads. The writer uses one
 * thread, and the rest is for files.
 */
export function callLimitersOf(poolSize: number): {
  readonly queries: DuckDbCallLimiter;
  readonly background: DuckDbCallLimiter;
} {
  return {
    queries: new DuckDbCallLimiter(Math.max(1, Math.floor(poolSize / 2))),
    background: new DuckDbCallLimiter(Math.max(1, Math.floor(poolSize / 16))),
  };
}
