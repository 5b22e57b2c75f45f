import { endOfQuery } from '../../../../model/end-of-query.js';

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

interface Waiting {
  readonly sizeBytes: number;
  start(): void;
}

/**
 * What queries hold in the engine before their first row, and in answers that wait for slow clients. All sizes are estimates.
 * Nobody waits here for a client: a sort ends by itself, and an answer that finds no room stays in the engine.
 */
export class HeldMemory {
  #sortingBytes = 0;
  #answersBytes = 0;
  readonly #waiting: Waiting[] = [];

  /** Resolves when there is room for a sort, in order of arrival. Rejects with the end of the query. */
  async takeForSort(sizeBytes: number, signal: AbortSignal): Promise<GiveBack> {
    if (sizeBytes < LEAST_SORTING_BYTES) return nothing;
    if (signal.aborted) throw endOfQuery(signal);
    const share = Math.min(sizeBytes, MAX_SHARE_BYTES);
    if (this.#waiting.length > 0 || !this.#fits(share)) await this.#wait(share, signal);
    else this.#sortingBytes += share;
    return once(() => {
      this.#sortingBytes -= share;
      this.#startNext();
    });
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

  #fits(sizeBytes: number): boolean {
    return this.#sortingBytes + sizeBytes <= MAX_SORTING_BYTES;
  }

  #wait(sizeBytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = {
        sizeBytes,
        start: (): void => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(endOfQuery(signal));
        // Whoever stood behind it may fit.
        this.#startNext();
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #startNext(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || !this.#fits(next.sizeBytes)) return;
      this.#waiting.shift();
      this.#sortingBytes += next.sizeBytes;
      next.start();
    }
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
