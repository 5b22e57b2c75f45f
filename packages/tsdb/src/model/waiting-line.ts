import { endOfQuery } from './end-of-query.js';

/** Those who wait for a place, in order of arrival; how many may wait is for its owner to say. */
export class WaitingLine {
  readonly #starts = new Set<() => void>();

  get count(): number {
    return this.#starts.size;
  }

  /** Resolves when `next` comes to it. Rejects with the end of the query whose signal it is. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    // It may be asked for late, by then for nobody.
    if (signal?.aborted) return Promise.reject(endOfQuery(signal));
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#starts.delete(start);
        if (signal !== undefined) reject(endOfQuery(signal));
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#starts.add(start);
    });
  }

  /** Lets the one that has waited longest go on; false: nobody waits. */
  next(): boolean {
    const [start] = this.#starts;
    if (start === undefined) return false;
    this.#starts.delete(start);
    start();
    return true;
  }
}
