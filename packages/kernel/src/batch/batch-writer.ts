interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchWriterOptions<Item, Result> {
  readonly maxCount: number;
  /** Awaited before each batch is taken, so that more items can join it; never rejects. */
  readonly gather?: () => Promise<void>;
  /** Writes all items or none. @returns one result per item, in the same order. */
  readonly write: (batch: readonly Item[]) => Promise<readonly Result[]>;
  /** After a failed batch, writes each item separately, so that one bad item does not fail the others. */
  readonly retriesAlone?: boolean;
}

/** Writes items in batches, one batch at a time. Items added during a write go into the next batch. */
export class BatchWriter<Item, Result> {
  readonly #options: BatchWriterOptions<Item, Result>;
  readonly #waiting: Waiting<Item, Result>[] = [];
  #isRunning = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: BatchWriterOptions<Item, Result>) {
    this.#options = options;
  }

  /** The number of items that are not being written yet. The caller must bound it. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Resolves when the item has been written. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Resolves when no item is waiting or being written. */
  async idle(): Promise<void> {
    if (!this.#isRunning) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await this.#options.gather?.(); // at least one microtask, so that items of the same step join the batch
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
