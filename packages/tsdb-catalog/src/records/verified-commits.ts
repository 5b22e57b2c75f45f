import { Exclusive } from '@plinth/kernel';

/** A transaction of the relational store, and its effects in memory. */
export interface VerifiedCommit {
  /** Runs the transaction. */
  runTransaction(): Promise<void>;
  /** Whether the transaction was committed; called after it failed with `error`. */
  wasCommitted(error: unknown): Promise<boolean>;
  /** Called if it was committed. Must not fail. */
  applyCommitted(): void | Promise<void>;
  /** Called if it was not committed. Must not fail. */
  abandon(): void | Promise<void>;
}

/**
 * Runs transactions one after another. A failed transaction may have been committed: the response was lost, or an
 * error followed the commit. The store is then queried. Until this succeeds, no other transaction is committed,
 * because memory would differ from the stored state.
 */
export class VerifiedCommits {
  readonly #exclusive = new Exclusive();
  #unknownOutcome: VerifiedCommit | undefined;

  /** True while the outcome of a commit is unknown. */
  get isOutcomeUnknown(): boolean {
    return this.#unknownOutcome !== undefined;
  }

  /**
   * Resolves when the transaction is committed and applied in memory. Otherwise it is abandoned, or its
   * outcome is unknown, and `determineOutcome` determines it.
   * @param prepare called immediately before the transaction.
   */
  async commit(prepare: () => VerifiedCommit): Promise<void> {
    await this.#exclusive.run(async () => {
      try {
        await this.#determineOutcome();
      } catch (error) {
        await prepare().abandon();
        throw error;
      }
      await this.#commit(prepare());
    });
  }

  /**
   * Determines the unknown outcome of a commit, and completes the commit. Throws while the store is
   * unreachable.
   */
  async determineOutcome(): Promise<void> {
    await this.#exclusive.run(() => this.#determineOutcome());
  }

  /** Runs `work` while store and memory agree. */
  async whileConsistent<T>(work: () => Promise<T>): Promise<T> {
    return await this.#exclusive.run(async () => {
      await this.#determineOutcome();
      return await work();
    });
  }

  async #commit(commit: VerifiedCommit): Promise<void> {
    try {
      await commit.runTransaction();
    } catch (error) {
      let wasCommitted: boolean;
      try {
        wasCommitted = await commit.wasCommitted(error);
      } catch {
        this.#unknownOutcome = commit;
        throw error; // report the first failure, not this one
      }
      if (!wasCommitted) {
        await commit.abandon();
        throw error;
      }
    }
    await commit.applyCommitted();
  }

  async #determineOutcome(): Promise<void> {
    const commit = this.#unknownOutcome;
    if (commit === undefined) return;
    const wasCommitted = await commit.wasCommitted(undefined);
    this.#unknownOutcome = undefined;
    await (wasCommitted ? commit.applyCommitted() : commit.abandon());
  }
}
