interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchWriterOptions<Item, Result> {
  readonly maxCount: number;
  /** Waited for before each batch is taken, beyond those who ask in one step; never rejects. */
  readonly gather?: () => Promise<void>;
  /** Writes all or nothing. @returns what became of each item, in their order. */
  readonly write: (batch: readonly Item[]) => Promise<readonly Result[]>;
  /** After a failure each item is written by itself: one that cannot be stored must not fail its neighbours. */
  readonly retriesAlone?: boolean;
}

/** Writes what comes one batch after the other: whatever comes while one is written goes together with the next one. */
export class BatchWriter<Item, Result> {
  readonly #options: BatchWriterOptions<Item, Result>;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: BatchWriterOptions<Item, Result>) {
    this.#options = options;
  }

  /** Without those that are being written. The bound is the caller's. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Resolves when the item is written. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Resolves when nothing waits and nothing is being written. */
  async idle(): Promise<void> {
    if (!this.#isRunning) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await this.#options.gather?.(); // a pause in any case
      await this.#writeAll(this.#waiting.splice(0, this.#options.maxCount));
    }
    this.#isRunning = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  async #writeAll(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#options.write(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result); // one for each
    } catch (error) {
      if (batch.length > 1 && this.#options.retriesAlone) {
        for (const each of batch) await this.#writeAll([each]);
      } else for (const { reject } of batch) reject(error);
    }
  }
}
