import type { Asker } from '../../../../model/asker.js';
import { endOfQuery } from '../../../../model/end-of-query.js';
import { FairPlaces } from '../../../../model/fair-places.js';

/** What all sorts that run at a time may hold. */
const MAX_SORTING_BYTES = 256 * 1024 * 1024;
/** A larger sort counts as this: the engine puts what it cannot hold on disk, and a few long ones must leave room for others. */
const MAX_SHARE_BYTES = MAX_SORTING_BYTES / 4;
/** Smaller sorts wait for nobody. */
const LEAST_SORTING_BYTES = 8 * 1024 * 1024;

/** What all answers may hold that are taken over from the engine as a whole, and one of them. */
const MAX_ANSWERS_BYTES = 512 * 1024 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Gives back what was taken; twice is harmless. */
export type GiveBack = () => void;

const nothing: GiveBack = () => undefined;

/**
 * What queries hold in the engine before their first row, and in answers that wait for slow clients. All sizes are estimates.
 * Nobody waits here for a client: a sort ends by itself, and an answer that finds no room stays in the engine.
 */
export class HeldMemory {
  /** In bytes. */
  readonly #sorting = new FairPlaces(MAX_SORTING_BYTES);
  #answersBytes = 0;

  /** Resolves when there is room for a sort. Rejects with the end of the query. */
  async takeForSort(sizeBytes: number, asker: Asker): Promise<GiveBack> {
    if (sizeBytes < LEAST_SORTING_BYTES) return nothing;
    if (asker.signal.aborted) throw endOfQuery(asker.signal);
    const share = Math.min(sizeBytes, MAX_SHARE_BYTES);
    await this.#sorting.take(asker, share);
    return once(() => this.#sorting.give(asker.owner, share));
  }

  /** `undefined`: there is no room for it. */
  takeForAnswer(sizeBytes: number): GiveBack | undefined {
    const isTooLarge = sizeBytes > MAX_ANSWER_BYTES;
    if (isTooLarge || this.#answersBytes + sizeBytes > MAX_ANSWERS_BYTES) return undefined;
    this.#answersBytes += sizeBytes;
    return once(() => {
      this.#answersBytes -= sizeBytes;
    });
  }
}

export function once(giveBack: () => void): GiveBack {
  let isGiven = false;
  return () => {
    if (isGiven) return;
    isGiven = true;
    giveBack();
  };
}
