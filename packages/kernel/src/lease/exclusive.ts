/** Runs work one piece at a time, in call order. */
export class Exclusive {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined); // The failure is reported only to the caller and does not affect the next piece.
    return result;
  }
}
