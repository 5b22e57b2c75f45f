import { AccountsRefused } from '../../model/violation.js';
import type { CommitQueue, CommitResult, WriteSet } from '../../storage/commit-queue.js';
import type { LockVersionStore } from '../../storage/lock-version-store.js';

/**
 * Maximum number of attempts, including the first. If nodes compete for the same change, one of them succeeds in each
 * round.
 */
const MAX_ATTEMPT_COUNT = 20;

/** Commits with optimistic concurrency control: lock holders detect conflicts with other nodes by lock versions. */
export class OptimisticCommits {
  readonly #commits: CommitQueue;
  readonly #lockVersions: LockVersionStore;

  constructor(deps: { readonly commits: CommitQueue; readonly lockVersions: LockVersionStore }) {
    this.#commits = deps.commits;
    this.#lockVersions = deps.lockVersions;
  }

  /**
   * Prepares and commits a change. Retries if another node has changed the data it depends on. Throws
   * `account_rate_limit_exceeded` after too many attempts.
   * @param lockKeys locks that the caller holds.
   * @param prepare reads data and returns the change without applying it; `undefined` writes nothing.
   * @param recordId see `CommitQueue.commit`.
   */
  async commit<T>(
    lockKeys: readonly string[],
    prepare: () => Promise<{ readonly outcome: T; readonly writes: WriteSet | undefined }>,
    recordId?: string,
  ): Promise<{ readonly outcome: T; readonly result: Exclude<CommitResult, 'stale'> }> {
    for (let attempt = 1; attempt <= MAX_ATTEMPT_COUNT; attempt++) {
      const lockVersions = await this.#lockVersions.readVersions(lockKeys);
      const { outcome, writes } = await prepare();
      if (writes === undefined) return { outcome, result: 'done' };
      const result = await this.#commits.commit(writes.checkVersions(lockVersions), recordId);
      if (result !== 'stale') return { outcome, result };
    }
    throw tooManyUpdates();
  }
}

export const tooManyUpdates = (): AccountsRefused =>
  new AccountsRefused({
    code: 'account_rate_limit_exceeded',
    message: 'Too many concurrent requests are changing this account; retry later.',
  });
