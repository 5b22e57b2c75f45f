import { FairSemaphore } from '@plinth/tsdb-model/fair-semaphore.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { once, type Release } from './memory-budget.js';

/** Memory for the slices of all results, shared equally as far as possible. */
const MAX_SLICES_BYTES = 256 * 1024 * 1024;
/** Minimum size of a slice, so that every result makes progress even with little memory. */
const LEAST_SLICE_BYTES = 1024 * 1024;
/**
 * With this many results, slices are copied out of DuckDB immediately, because it keeps far more
 * than the size of the rows.
 */
const MANY_RESULTS = 16;
/**
 * Maximum number of slices computed concurrently: below the limit of DuckDB calls, so that short
 * statements find a free one.
 */
const MAX_CONCURRENT_SLICES = 4;

/** Memory for the slices of one result, which has one slice at a time. */
export interface SliceReservation {
  /** Returns the maximum size of the next slice in bytes. */
  fittingBytes(): number;
  /** True if slices should be copied out of DuckDB completely. */
  shouldCopy(): boolean;
  /** Sets the size of the current slice, replacing the previous value. */
  setReservedBytes(sizeBytes: number): void;
  /** Resolves when DuckDB may compute the slice. Rejects when the query is aborted. */
  acquireSlot(queryContext: QueryContext): Promise<Release>;
  /** Ends the result; calling it twice is harmless. */
  end: Release;
}

/**
 * Memory of results that are computed in slices. Computing a slice waits only for DuckDB,
 * never for another client, so every result makes progress. All sizes are estimates.
 */
export class SliceMemory {
  #resultCount = 0;
  #reservedBytes = 0;
  readonly #slots = new FairSemaphore(MAX_CONCURRENT_SLICES);

  begin({ reserved }: Pick<QueryContext, 'reserved'> = {}): SliceReservation {
    this.#resultCount++;
    let ownBytes = 0;
    const setReserved = (sizeBytes: number): void => {
      this.#reservedBytes += sizeBytes - ownBytes;
      reserved?.(sizeBytes - ownBytes);
      ownBytes = sizeBytes;
    };
    return {
      fittingBytes: () => {
        const left = MAX_SLICES_BYTES - (this.#reservedBytes - ownBytes);
        const share = MAX_SLICES_BYTES / this.#resultCount;
        return Math.max(LEAST_SLICE_BYTES, Math.min(share, left));
      },
      shouldCopy: () => this.#resultCount >= MANY_RESULTS,
      setReservedBytes: setReserved,
      acquireSlot: (queryContext) => this.#acquireSlot(queryContext),
      end: once(() => {
        setReserved(0);
        this.#resultCount--;
      }),
    };
  }

  async #acquireSlot(queryContext: QueryContext): Promise<Release> {
    await this.#slots.acquire(queryContext);
    return once(() => this.#slots.release(queryContext.owner));
  }
}
