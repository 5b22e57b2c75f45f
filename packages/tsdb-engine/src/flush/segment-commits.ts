import {
  type VerifiedCommit,
  VerifiedCommits,
} from '@plinth/tsdb-catalog/records/verified-commits.js';

import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type {
  RegistryChange,
  SegmentRegistry,
} from '@plinth/tsdb-storage/segments/segment-registry.js';
import { SegmentsChanged } from '@plinth/tsdb-storage/segments/segments-changed.js';
import type { StoredTombstone } from '@plinth/tsdb-storage/segments/stored-tombstones.js';
import { applyPostCommitUpdate, type PostCommitUpdate } from '../table/post-commit-update.js';

/** A change whose files are written, and the memory updates that follow its commit. */
export interface PreparedChange {
  readonly change: RegistryChange;
  readonly postCommitUpdates: readonly PostCommitUpdate[];
}

/**
 * The only way to add files to tables and remove them: prepare, commit, apply in memory (ADR 0082). If the
 * relational store is unreachable, the outcome of a commit may be unknown. It is determined before the next
 * commit, because a retry would write the same rows again.
 */
export class SegmentCommits {
  readonly #registry: SegmentRegistry;
  readonly #files: SegmentFiles;
  readonly #commits = new VerifiedCommits();

  constructor(options: {
    readonly registry: SegmentRegistry;
    readonly files: SegmentFiles;
  }) {
    this.#registry = options.registry;
    this.#files = options.files;
  }

  /**
   * Resolves when the change is committed and applied in memory. On failure, either nothing has changed and the new files are
   * removed, or the outcome is unknown and `determineOutcome` determines it. Throws `SegmentsChanged` if a file to be removed
   * no longer exists.
   * @param prepare called immediately before the commit.
   */
  async commit(prepare: () => PreparedChange): Promise<void> {
    await this.#commits.commit(() => this.#commitOf(prepare()));
  }

  /**
   * Resolves when row deletions are stored and in effect. No files that must respect them are written in the
   * meantime. If it is unknown whether they are stored, the promise remains pending until this is known.
   */
  async addTombstones(
    tombstones: readonly StoredTombstone[],
    outcome: { applyCommitted(): void; abandon(): void },
  ): Promise<void> {
    await this.#commits.commit(() => ({
      ...outcome,
      runTransaction: () => this.#registry.addTombstones(tombstones),
      wasCommitted: () => this.#registry.hasTombstones(tombstones),
    }));
  }

  /**
   * Determines the outcome of an unsettled commit and completes it. Throws while the relational
   * store is unreachable.
   */
  async determineOutcome(): Promise<void> {
    await this.#commits.determineOutcome();
  }

  /**
   * Runs `work` while registry and tables agree: no change is between its commit and its
   * application in memory.
   */
  async whileConsistent<T>(work: () => Promise<T>): Promise<T> {
    return await this.#commits.whileConsistent(work);
  }

  #commitOf(prepared: PreparedChange): VerifiedCommit {
    const { change, postCommitUpdates } = prepared;
    const registry = this.#registry;
    return {
      runTransaction: () => registry.apply(change),
      wasCommitted: async (error) =>
        !(error instanceof SegmentsChanged) && (await registry.hasTakenEffect(change)),
      async applyCommitted() {
        for (const each of postCommitUpdates) await applyPostCommitUpdate(each);
      },
      abandon: () =>
        this.#files.removeUnregistered([...change.addSegments, ...change.addSeriesFiles]),
    };
  }
}
