/**
 * Pieces of long work on the main thread take turns: one in each turn of the event loop, in the order in which they asked,
 * so that requests are read and answered between any two of them.
 */
export class EventLoopYielder {
  readonly #waiting: (() => void)[] = [];
  readonly #next = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };

  /** Somebody waits. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when a piece of some milliseconds may run. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#next);
    });
  }
}
