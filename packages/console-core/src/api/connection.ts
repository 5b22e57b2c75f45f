/** Tracks for the bar above every page whether the server is reachable. */
class Connection {
  #lostMs: number | undefined;
  readonly #listeners = new Set<() => void>();

  /** Returns the time of the first failed request since the last response. */
  readonly lostSince = (): number | undefined => this.#lostMs;

  noteReachable(): void {
    if (this.#lostMs === undefined) return;
    this.#lostMs = undefined;
    this.#notify();
  }

  noteUnreachable(): void {
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
