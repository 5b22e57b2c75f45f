import { FairSemaphore } from '@plinth/tsdb-model/fair-semaphore.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';

/** Memory for all concurrent sorts. */
const MAX_SORTING_BYTES = 256 * 1024 * 1024;
/**
 * Larger sorts count as this size: DuckDB spills the rest to disk, and a few long sorts must leave
 * room for others.
 */
const MAX_SORT_BYTES = MAX_SORTING_BYTES / 4;
/** Smaller sorts start without waiting. */
const LEAST_SORTING_BYTES = 8 * 1024 * 1024;

/** Fraction of DuckDB's memory for sorted rows that stay there until clients have read them. */
const IN_DUCKDB_SHARE = 0.75;
/**
 * Maximum fraction of that memory that is reserved for one result. DuckDB spills a larger result to
 * disk.
 */
const MAX_RESULT_SHARE = 1 / 8;

/** Memory for all results that are copied out of DuckDB completely, and for one of them. */
const MAX_COPIED_RESULTS_BYTES = 512 * 1024 * 1024;
const MAX_COPIED_RESULT_BYTES = 16 * 1024 * 1024;

/** Releases the reservation; calling it twice is harmless. */
export type Release = () => void;

const nothing: Release = () => undefined;

/**
 * Memory that queries use in DuckDB before their first row, and in results that wait for slow
 * clients. All sizes are estimates. Sorts end even if their clients do not read. Results that stay
 * in DuckDB are shared fairly between owners, so an owner with many of them waits only for its own
 * clients.
 */
export class MemoryBudget {
  /** A slot of this semaphore is one byte. */
  readonly #sorting = new FairSemaphore(MAX_SORTING_BYTES);
  readonly #inDuckDb: FairSemaphore;
  readonly #inDuckDbBytes: number;
  #copiedResultsBytes = 0;

  /** @param duckDbBytes DuckDB's memory limit. */
  constructor(duckDbBytes: number) {
    this.#inDuckDbBytes = Math.floor(duckDbBytes * IN_DUCKDB_SHARE);
    this.#inDuckDb = new FairSemaphore(this.#inDuckDbBytes);
  }

  /** Resolves when there is enough memory for a sort. Rejects when the query is aborted. */
  async reserveForSort(sizeBytes: number, queryContext: QueryContext): Promise<Release> {
    if (sizeBytes < LEAST_SORTING_BYTES) return nothing;
    return await take(this.#sorting, Math.min(sizeBytes, MAX_SORT_BYTES), queryContext);
  }

  /**
   * Resolves when there is enough memory for sorted rows that stay in DuckDB until the last one is
   * read. Rejects when the query is aborted.
   */
  async reserveInDuckDb(sizeBytes: number, queryContext: QueryContext): Promise<Release> {
    const share = Math.min(sizeBytes, this.#inDuckDbBytes * MAX_RESULT_SHARE);
    return await take(this.#inDuckDb, share, queryContext);
  }

  /** Returns `undefined` if it does not fit. */
  reserveForResult(
    sizeBytes: number,
    { reserved }: Pick<QueryContext, 'reserved'> = {},
  ): Release | undefined {
    const isTooLarge = sizeBytes > MAX_COPIED_RESULT_BYTES;
    if (isTooLarge || this.#copiedResultsBytes + sizeBytes > MAX_COPIED_RESULTS_BYTES)
      return undefined;
    this.#copiedResultsBytes += sizeBytes;
    reserved?.(sizeBytes);
    return once(() => {
      this.#copiedResultsBytes -= sizeBytes;
      reserved?.(-sizeBytes);
    });
  }
}

async function take(
  slots: FairSemaphore,
  sizeBytes: number,
  queryContext: QueryContext,
): Promise<Release> {
  // An integer, so that the total returns to exactly 0.
  const share = Math.ceil(sizeBytes);
  await slots.acquire(queryContext, share);
  queryContext.reserved?.(share);
  return once(() => {
    slots.release(queryContext.owner, share);
    queryContext.reserved?.(-share);
  });
}

export function once(release: () => void): Release {
  let isGiven = false;
  return () => {
    if (isGiven) return;
    isGiven = true;
    release();
  };
}
