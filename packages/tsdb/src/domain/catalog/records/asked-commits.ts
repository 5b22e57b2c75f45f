import { Exclusive } from '@plinth/kernel';

/** A transaction of the catalog, and what follows from it in memory. */
export interface AskedCommit {
  /** The transaction. */
  make(): Promise<void>;
  /** Whether it was made; asked after it failed with `error`. */
  isMade(error: unknown): Promise<boolean>;
  /** It was made. Must not fail. */
  publish(): void | Promise<void>;
  /** It was not made. Must not fail. */
  abandon(): void | Promise<void>;
}

/**
 * Transactions one after the other. One that fails may have been made: the answer was lost, or an error came behind it. So the
 * catalog is asked, and as long as it cannot be, nothing else is committed: memory would tell something else than the next start.
 */
export class AskedCommits {
  readonly #exclusive = new Exclusive();
  #unsettled: AskedCommit | undefined;

  /** Nobody knows yet what became of a commit. */
  get isUnsettled(): boolean {
    return this.#unsettled !== undefined;
  }

  /**
   * Resolves when it is made and published. Otherwise it is abandoned; or nobody knows yet, and `settle` finds out.
   * @param prepare called when nothing stands between it and the transaction.
   */
  async commit(prepare: () => AskedCommit): Promise<void> {
    await this.#exclusive.run(async () => {
      try {
        await this.#settle();
      } catch (error) {
        await prepare().abandon();
        throw error;
      }
      await this.#commit(prepare());
    });
  }

  /** Finds out what became of a commit that nobody knows of, and ends it. Throws while that cannot be asked. */
  async settle(): Promise<void> {
    await this.#exclusive.run(() => this.#settle());
  }

  /** Runs `work` while catalog and memory tell the same. */
  async between<T>(work: () => Promise<T>): Promise<T> {
    return await this.#exclusive.run(async () => {
      await this.#settle();
      return await work();
    });
  }

  async #commit(commit: AskedCommit): Promise<void> {
    try {
      await commit.make();
    } catch (error) {
      let isMade: boolean;
      try {
        isMade = await commit.isMade(error);
      } catch {
        this.#unsettled = commit;
        throw error; // The first failure says more.
      }
      if (!isMade) {
        await commit.abandon();
        throw error;
      }
    }
    await commit.publish();
  }

  async #settle(): Promise<void> {
    const commit = this.#unsettled;
    if (commit === undefined) return;
    const isMade = await commit.isMade(undefined);
    this.#unsettled = undefined;
    await (isMade ? commit.publish() : commit.abandon());
  }
}
