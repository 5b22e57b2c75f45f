/** Runs loads of columns one after the other; those that a query waits for come first. */
export class LoadQueue {
  readonly #urgent: (() => Promise<void>)[] = [];
  readonly #others: (() => Promise<void>)[] = [];
  #isRunning = false;

  /** Resolves, or rejects, as the work does. */
  add(work: () => Promise<void>, isUrgent: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      (isUrgent ? this.#urgent : this.#others).push(() => work().then(resolve, reject));
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      const next = this.#urgent.shift() ?? this.#others.shift();
      if (next === undefined) break;
      await next();
    }
    this.#isRunning = false;
  }
}
