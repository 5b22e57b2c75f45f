/** Runs work one after the other per key, in order of the calls; different keys do not wait for each other. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }

  /** Work starts at once when nothing of its key is going on; then a result without a promise stays one. */
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
