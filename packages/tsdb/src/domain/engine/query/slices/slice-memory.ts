import { FairSemaphore } from '../../../../model/fair-semaphore.js';
import type { QueryOwner } from '../../../../model/query-owner.js';
import { once, type Release } from './memory-budget.js';

/** What the slices of all answers may hold that come in slices of time: each has the same share of it, as far as there is some left. */
const MAX_SLICES_BYTES = 256 * 1024 * 1024;
/** However little is left, a slice has so much: who reads on must get somewhere. */
const LEAST_SLICE_BYTES = 1024 * 1024;
/** From so many answers on the engine lets go of a slice at once, as it keeps far more of it than its rows take. */
const MANY_COUNT = 16;
/** Slices that are made at a time: fewer than calls of the engine, so that short statements find one. */
const MAX_MADE_COUNT = 4;

/** What one answer may hold of its slices; one at a time. */
export interface SliceRoom {
  /** What the next slice may take. */
  fittingBytes(): number;
  /** Slices should be taken over from the engine as a whole. */
  isTight(): boolean;
  /** Tells what the slice takes, instead of what was told before. */
  hold(sizeBytes: number): void;
  /** Resolves when the engine may make the slice. Rejects with the end of the query. */
  waitForSlices(queryOwner: QueryOwner): Promise<Release>;
  /** The answer has ended; twice is harmless. */
  end: Release;
}

/**
 * What answers hold that come in slices of time. A slice that is made waits for nothing but the engine, so that everybody's turn
 * comes; nobody waits for another's client. All sizes are estimates.
 */
export class SliceMemory {
  #answerCount = 0;
  #heldBytes = 0;
  readonly #places = new FairSemaphore(MAX_MADE_COUNT);

  begin({ reserved }: Pick<QueryOwner, 'reserved'> = {}): SliceRoom {
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
      hold,
      waitForSlices: (queryOwner) => this.#waitForSlices(queryOwner),
      end: once(() => {
        hold(0);
        this.#answerCount--;
      }),
    };
  }

  async #waitForSlices(queryOwner: QueryOwner): Promise<Release> {
    await this.#places.take(queryOwner);
    return once(() => this.#places.give(queryOwner.owner));
  }
}
