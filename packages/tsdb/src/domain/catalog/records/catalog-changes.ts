import { KeyedQueue } from '../keyed-queue.js';
import { type AskedCommit, AskedCommits } from './asked-commits.js';

/**
 * Changes of databases. Those of one run one after the other, by its name, and each begins when it is known what became of the one
 * before it: a table may be there, or be deleted, that memory does not know of.
 */
export class CatalogChanges {
  readonly #queue = new KeyedQueue();
  /** By database. Each holds its place among what is limited, so that they are few. */
  readonly #unsettled = new Map<string, AskedCommits>();

  /** A change is under way, and what is known without it holds. */
  isBusy(database: string): boolean {
    return this.#queue.isBusy(database) && !this.#unsettled.has(database);
  }

  /** Work starts at once when nothing of the database is going on; then a result without a promise stays one. */
  run<T>(database: string, work: () => T | Promise<T>): T | Promise<T> {
    return this.#queue.run(database, () => {
      const commits = this.#unsettled.get(database);
      return commits === undefined ? work() : this.#settle(commits).then(work);
    });
  }

  /** Makes a change durable, then visible. The caller runs among the changes of these databases. */
  async make(databases: readonly string[], change: AskedCommit): Promise<void> {
    const commits = new AskedCommits();
    try {
      await commits.commit(() => change);
    } finally {
      if (commits.isUnsettled) for (const name of databases) this.#unsettled.set(name, commits);
    }
  }

  async #settle(commits: AskedCommits): Promise<void> {
    await commits.settle();
    for (const [name, each] of this.#unsettled) if (each === commits) this.#unsettled.delete(name);
  }
}
