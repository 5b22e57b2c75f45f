import { QueryCancelled, QueryQueueFull, QueryTimedOut } from '../../errors.js';

/** Queries that may wait for a slot; more are refused. */
const MAX_WAITING = 10_000;

/** Lets so many queries run at a time; the others wait in order of arrival. */
export class QuerySlots {
  readonly #count: number;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get runningCount(): number {
    return this.#count - this.#free;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Resolves with the function that gives the slot back (once; twice is harmless). */
  async take(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= MAX_WAITING) throw new QueryQueueFull();
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        const place = this.#waiting.indexOf(start);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(signal.reason instanceof QueryTimedOut ? signal.reason : new QueryCancelled());
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(start);
    });
  }
}
