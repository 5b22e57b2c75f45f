import { isOutOfMemory } from '../../../storage/duckdb/instance/memory-watch.js';

/** So long may flushes fail before the server says that it is not well: what failed may be over with the next statement. */
const TIMEOUT_MS = 3 * 60_000;

/** Flushes that failed one after the other. */
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

  /** What health checks say; `undefined` when no flush has failed for long. */
  obstacle(nowMs: number): string | undefined {
    const failingMs = this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
    if (failingMs < TIMEOUT_MS) return undefined;
    const why = this.#isForMemory
      ? 'the query engine has no memory left: restart the server, and set tsdb.query_memory_bytes higher if it happens again'
      : "the server's log says why";
    return `rows in memory could not be written to files for ${Math.floor(failingMs / 60_000)} minutes, they are in the log; ${why}`;
  }
}
