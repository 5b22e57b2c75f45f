import { FairSemaphore } from '@plinth/tsdb-model/fair-semaphore.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import { once, type Release } from './memory-budget.js';

/** Memory for the time slices of all results, shared equally as far as possible. */
const MAX_SLICES_BYTES = 256 * 1024 * 1024;
/** Minimum size of a slice, so that every result makes progress even with little memory. */
const LEAST_SLICE_BYTES = 1024 * 1024;
/**
 * With this many results, slices are copied out of DuckDB immediately, because it keeps far more
 * than the size of the rows.
 */
const MANY_COUNT = 16;
/**
 * Maximum number of slices computed concurrently: below the limit of DuckDB calls, so that short
 * statements find a free one.
 */
const MAX_MADE_COUNT = 4;

/** Memory for the slices of one result, which has one slice at a time. */
export interface SliceReservation {
  /** Returns the maximum size of the next slice in bytes. */
  fittingBytes(): number;
  /** True if slices should be copied out of DuckDB completely. */
  isTight(): boolean;
  /** Sets the size of the current slice, replacing the previous value. */
  setReservedBytes(sizeBytes: number): void;
  /** Resolves when DuckDB may compute the slice. Rejects when the query is aborted. */
  acquireSlot(queryContext: QueryContext): Promise<Release>;
  /** Ends the result; calling it twice is harmless. */
  end: Release;
}

/**
 * Memory of results that are computed in time slices. Computing a slice waits only for DuckDB,
 * never for another client, so every result makes progress. All sizes are estimates.
 */
export class SliceMemory {
  #answerCount = 0;
  #heldBytes = 0;
  readonly #slots = new FairSemaphore(MAX_MADE_COUNT);

  begin({ reserved }: Pick<QueryContext, 'reserved'> = {}): SliceReservation {
    this.#answerCount++;
    let ownBytes = 0;
    const hold = (sizeBytes: number): void => {
      this.#heldBytes += sizeBytes - ownBytes;
      reserved?.(sizeBytes - ownBytes);
      ownBytes = sizeBytes;
    };
    return {
      fittingBytes: () => {
        const left = MAX_SLICES_BYTES - (this.#heldBytes - ownBytes);
        const share = MAX_SLICES_BYTES / this.#answerCount;
        return Math.max(LEAST_SLICE_BYTES, Math.min(share, left));
      },
      isTight: () => this.#answerCount >= MANY_COUNT,
      setReservedBytes: hold,
      acquireSlot: (queryContext) => this.#acquireSlot(queryContext),
      end: once(() => {
        hold(0);
        this.#answerCount--;
      }),
    };
  }

  async #acquireSlot(queryContext: QueryContext): Promise<Release> {
    await this.#slots.take(queryContext);
    return once(() => this.#slots.give(queryContext.owner));
  }
}
