import { isOutOfMemory } from '@plinth/tsdb-storage/duckdb/instance/memory-watch.js';

/**
 * Time for which flushes may fail before health checks report it, because a failure may disappear with the next statement.
 */
const TIMEOUT_MS = 3 * 60_000;

/** Counts consecutive failed flushes. */
export class FlushFailures {
  #sinceMs: number | undefined;
  #isForMemory = false;

  failed(error: unknown, nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#isForMemory = isOutOfMemory(error);
  }

  ended(): void {
    this.#sinceMs = undefined;
  }

  /** Message for health checks; `undefined` unless flushes have failed for a long time. */
  obstacle(nowMs: number): string | undefined {
    const failingMs = this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
    if (failingMs < TIMEOUT_MS) return undefined;
    const why = this.#isForMemory
      ? 'DuckDB is out of memory: restart the server, and increase tsdb.query_memory_bytes if it happens again'
      : 'see the server log for the cause';
    return `flushes have failed for ${Math.floor(failingMs / 60_000)} minutes; the rows are safe in the write-ahead log; ${why}`;
  }
}
