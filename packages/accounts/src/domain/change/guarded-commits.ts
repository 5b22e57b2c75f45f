import { AccountsRefused } from '../../model/violation.js';
import type { CommitQueue, CommitResult, WriteSet } from '../../storage/commit-queue.js';
import type { GuardStore } from '../../storage/guard-store.js';

/** Nodes that change the same thing at the same time: each round one of them is done. */
const MAX_ATTEMPT_COUNT = 20;

/** Commits of whoever holds locks, made so that they also hold against other nodes. */
export class GuardedCommits {
  readonly #commits: CommitQueue;
  readonly #guards: GuardStore;

  constructor(needs: { readonly commits: CommitQueue; readonly guards: GuardStore }) {
    this.#commits = needs.commits;
    this.#guards = needs.guards;
  }

  /**
   * Makes a change and commits it; makes it anew when another node has changed meanwhile what it was decided by.
   * Throws `account_rate_limit_exceeded` when that happens again and again.
   * @param lockKeys locks that the caller holds.
   * @param make reads, decides and changes nothing; `undefined` writes nothing.
   * @param recordId see `CommitQueue.commit`.
   */
  async commit<T>(
    lockKeys: readonly string[],
    make: () => Promise<{ readonly made: T; readonly writes: WriteSet | undefined }>,
    recordId?: string,
  ): Promise<{ readonly made: T; readonly result: Exclude<CommitResult, 'stale'> }> {
    for (let attempt = 1; attempt <= MAX_ATTEMPT_COUNT; attempt++) {
      const guards = await this.#guards.look(lockKeys);
      const { made, writes } = await make();
      if (writes === undefined) return { made, result: 'done' };
      const result = await this.#commits.commit(writes.guard(guards), recordId);
      if (result !== 'stale') return { made, result };
    }
    throw tooManyUpdates();
  }
}

export const tooManyUpdates = (): AccountsRefused =>
  new AccountsRefused({
    code: 'account_rate_limit_exceeded',
    message: 'Too many requests change this account at the same time; try again in a moment.',
  });
