/**
 * Schedules pieces of long work on the main thread: one per event-loop tick, in call order, so that requests are
 * handled between two pieces.
 */
export class EventLoopYielder {
  readonly #waiting: (() => void)[] = [];
  readonly #next = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#next);
  };

  /** Whether any piece is waiting. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when a piece of a few milliseconds may run. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#next);
    });
  }
}
