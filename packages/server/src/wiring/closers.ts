/** Closes opened parts in reverse order. */
export class Closers {
  readonly #closers: (() => Promise<void> | void)[] = [];

  add(close: () => Promise<void> | void): void {
    this.#closers.push(close);
  }

  /**
   * A failure does not keep the other parts open. Throws `AggregateError` at the end. Can be called
   * twice.
   */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let next = this.#closers.pop(); next !== undefined; next = this.#closers.pop()) {
      try {
        await next();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, 'some components did not close cleanly');
  }
}
