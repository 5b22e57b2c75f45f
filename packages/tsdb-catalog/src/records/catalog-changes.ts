import { KeyedQueue } from '../keyed-queue.js';
import { type VerifiedCommit, VerifiedCommits } from './verified-commits.js';

/**
 * Serializes changes to databases. Changes to the same database, by name, run one after another.
 * Each starts only when the outcome of the previous one is known: otherwise memory might not
 * reflect a created or deleted table.
 */
export class CatalogChanges {
  readonly #queue = new KeyedQueue();
  /** By database. There are few, because each database counts against the limits. */
  readonly #unsettled = new Map<string, VerifiedCommits>();

  /** True if a change is running, and the snapshots in memory remain valid in the meantime. */
  isBusy(database: string): boolean {
    return this.#queue.isBusy(database) && !this.#unsettled.has(database);
  }

  /**
   * Starts immediately if the database is idle; a synchronous result is then returned
   * synchronously.
   */
  run<T>(database: string, work: () => T | Promise<T>): T | Promise<T> {
    return this.#queue.run(database, () => {
      const commits = this.#unsettled.get(database);
      return commits === undefined ? work() : this.#determineOutcome(commits).then(work);
    });
  }

  /** Makes a change durable, then visible. The caller must hold the queues of these databases. */
  async commit(databases: readonly string[], change: VerifiedCommit): Promise<void> {
    const commits = new VerifiedCommits();
    try {
      await commits.commit(() => change);
    } finally {
      if (commits.isOutcomeUnknown)
        for (const name of databases) this.#unsettled.set(name, commits);
    }
  }

  async #determineOutcome(commits: VerifiedCommits): Promise<void> {
    await commits.determineOutcome();
    for (const [name, each] of this.#unsettled) if (each === commits) this.#unsettled.delete(name);
  }
}
