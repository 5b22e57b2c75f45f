/** Whether the server answers, for the bar above every page. */
class Connection {
  #lostMs: number | undefined;
  readonly #listeners = new Set<() => void>();

  /** Since when there has been no answer. */
  readonly lostSince = (): number | undefined => this.#lostMs;

  noteAnswer(): void {
    if (this.#lostMs === undefined) return;
    this.#lostMs = undefined;
    this.#notify();
  }

  noteSilence(): void {
    if (this.#lostMs !== undefined) return;
    this.#lostMs = Date.now();
    this.#notify();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const connection = new Connection();
