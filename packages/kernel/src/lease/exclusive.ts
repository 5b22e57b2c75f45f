/** Runs pieces of work one after the other, in the order of the calls. */
export class Exclusive {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined); // The caller sees the failure; the next in line must not.
    return result;
  }
}
