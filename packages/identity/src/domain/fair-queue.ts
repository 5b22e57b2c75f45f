import { RoundRobin } from '@plinth/kernel';

interface Waiting {
  readonly begin: () => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * Runs jobs one at a time, round-robin by key, so that a busy key does not delay others. When the
 * queue is full, a job of a less busy key displaces the last job of the busiest key.
 */
export class FairQueue {
  readonly #maxCount: number;
  readonly #maxCountPerKey: number;
  readonly #refusal: () => Error;
  readonly #waiting = new RoundRobin<string, Waiting>();
  #isBusy = false;

  constructor(bounds: {
    readonly maxCount: number;
    readonly maxCountPerKey: number;
    /** Creates the error for a rejected or displaced job. */
    readonly refusal: () => Error;
  }) {
    this.#maxCount = bounds.maxCount;
    this.#maxCountPerKey = bounds.maxCountPerKey;
    this.#refusal = bounds.refusal;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#isBusy) await this.#wait(key);
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #wait(key: string): Promise<void> {
    const ownCount = this.#waiting.countOf(key);
    if (ownCount >= this.#maxCountPerKey) throw this.#refusal();
    if (this.#waiting.count >= this.#maxCount) {
      const displaced = this.#waiting.takeLastOfMost(ownCount + 1);
      if (displaced === undefined) throw this.#refusal();
      displaced.refuse(this.#refusal());
    }
    return new Promise((begin, refuse) => {
      this.#waiting.add(key, { begin, refuse });
    });
  }

  /** Starts the next job without freeing the slot in between. */
  #next(): void {
    const next = this.#waiting.next();
    if (next === undefined) this.#isBusy = false;
    else next.begin();
  }
}
