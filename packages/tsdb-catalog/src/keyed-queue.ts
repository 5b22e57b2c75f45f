/**
 * Runs work for the same key one after another, in call order; different keys run independently.
 */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }

  /** Starts immediately if the key is idle; a synchronous result is then returned synchronously. */
  run<T>(key: string, work: () => T | Promise<T>): T | Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? work() : before.then(work);
    if (!(result instanceof Promise)) return result;
    const done = () => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    };
    const tail = result.then(done, done);
    this.#tails.set(key, tail);
    return result;
  }
}
