/**
 * A lock per database: any number of writes and row deletions share it (`shared`). A change that
 * must not run at the same time excludes them (`exclusive`).
 */
export class DatabaseWriteLock {
  readonly #running = new Map<string, number>();
  readonly #exclusive = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, () => void>();

  /** Runs a write or deletion of rows, after the changes that exclude it. */
  async shared<T>(database: string, work: () => Promise<T>): Promise<T> {
    while (this.#exclusive.has(database)) await this.#exclusive.get(database);
    this.#running.set(database, (this.#running.get(database) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#leave(database);
    }
  }

  #leave(database: string): void {
    const count = (this.#running.get(database) ?? 1) - 1;
    if (count > 0) {
      this.#running.set(database, count);
      return;
    }
    this.#running.delete(database);
    this.#waiting.get(database)?.();
  }

  /**
   * Runs `work` while no write of the database runs; new ones wait. Only one call at a time for a
   * database.
   */
  async exclusive<T>(database: string, work: () => Promise<T>): Promise<T> {
    let open: () => void = () => undefined;
    this.#exclusive.set(
      database,
      new Promise((resolve) => {
        open = resolve;
      }),
    );
    try {
      if (this.#running.has(database)) {
        await new Promise<void>((done) => this.#waiting.set(database, done));
        this.#waiting.delete(database);
      }
      return await work();
    } finally {
      this.#exclusive.delete(database);
      open();
    }
  }
}
