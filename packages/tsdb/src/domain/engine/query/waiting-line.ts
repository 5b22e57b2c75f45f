import { QueryCancelled } from '../../../errors.js';

/** Those who wait for a place, in order of arrival; how many may wait is for its owner to say. */
export class WaitingLine {
  readonly #starts = new Set<() => void>();

  get count(): number {
    return this.#starts.size;
  }

  /** Resolves when `next` comes to it. Rejects with `QueryCancelled`. */
  wait(signal: AbortSignal): Promise<void> {
    // It may be asked for late, by then for nobody.
    if (signal.aborted) return Promise.reject(new QueryCancelled());
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#starts.delete(start);
        reject(new QueryCancelled());
      };
      signal.addEventListener('abort', leave, { once: true });
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
