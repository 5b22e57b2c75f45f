import { FairSemaphore } from '../../../../model/fair-semaphore.js';
import type { QueryOwner } from '../../../../model/query-owner.js';

/** What all sorts that run at a time may hold. */
const MAX_SORTING_BYTES = 256 * 1024 * 1024;
/** A larger sort counts as this: the engine puts what it cannot hold on disk, and a few long ones must leave room for others. */
const MAX_SHARE_BYTES = MAX_SORTING_BYTES / 4;
/** Smaller sorts wait for nobody. */
const LEAST_SORTING_BYTES = 8 * 1024 * 1024;

/** So much of the engine's memory may be held by sorted answers that stay there until their clients have taken them. */
const STAYING_SHARE = 0.75;
/** No answer counts as more than such a part of it: the engine puts on disk what it cannot hold. */
const MAX_STAYING_PART = 1 / 8;

/** What all answers may hold that are taken over from the engine as a whole, and one of them. */
const MAX_ANSWERS_BYTES = 512 * 1024 * 1024;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Gives back what was taken; twice is harmless. */
export type Release = () => void;

const nothing: Release = () => undefined;

/**
 * What queries hold in the engine before their first row, and in answers that wait for slow clients. All sizes are estimates.
 * A sort ends by itself, and an answer that is not taken over stays in the engine, by turns of the owners: who has many such
 * answers waits for clients of its own.
 */
export class MemoryBudget {
  /** In bytes. */
  readonly #sorting = new FairSemaphore(MAX_SORTING_BYTES);
  readonly #staying: FairSemaphore;
  readonly #stayingBytes: number;
  #answersBytes = 0;

  /** @param engineBytes of memory that the engine may have. */
  constructor(engineBytes: number) {
    this.#stayingBytes = Math.floor(engineBytes * STAYING_SHARE);
    this.#staying = new FairSemaphore(this.#stayingBytes);
  }

  /** Resolves when there is room for a sort. Rejects with the end of the query. */
  async takeForSort(sizeBytes: number, queryOwner: QueryOwner): Promise<Release> {
    if (sizeBytes < LEAST_SORTING_BYTES) return nothing;
    return await take(this.#sorting, Math.min(sizeBytes, MAX_SHARE_BYTES), queryOwner);
  }

  /** Resolves when there is room for sorted rows that the engine keeps until the last one is taken. Rejects as above. */
  async takeToStay(sizeBytes: number, queryOwner: QueryOwner): Promise<Release> {
    const share = Math.min(sizeBytes, this.#stayingBytes * MAX_STAYING_PART);
    return await take(this.#staying, share, queryOwner);
  }

  /** `undefined`: there is no room for it. */
  takeForAnswer(
    sizeBytes: number,
    { reserved }: Pick<QueryOwner, 'reserved'> = {},
  ): Release | undefined {
    const isTooLarge = sizeBytes > MAX_ANSWER_BYTES;
    if (isTooLarge || this.#answersBytes + sizeBytes > MAX_ANSWERS_BYTES) return undefined;
    this.#answersBytes += sizeBytes;
    reserved?.(sizeBytes);
    return once(() => {
      this.#answersBytes -= sizeBytes;
      reserved?.(-sizeBytes);
    });
  }
}

async function take(
  places: FairSemaphore,
  sizeBytes: number,
  queryOwner: QueryOwner,
): Promise<Release> {
  // Whole numbers: an owner that has given all back has exactly nothing.
  const share = Math.ceil(sizeBytes);
  await places.take(queryOwner, share);
  queryOwner.reserved?.(share);
  return once(() => {
    places.give(queryOwner.owner, share);
    queryOwner.reserved?.(-share);
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
