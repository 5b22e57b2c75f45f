/**
 * Applies a file change to the objects of a table after its commit. All work that can fail precedes
 * the commit. `apply` returns `undefined`, not a promise, so it cannot access the disk, the
 * relational store or DuckDB.
 */
export interface PostCommitUpdate {
  readonly apply: () => undefined;
  /** Runs work exclusively, while no other change of the table's files and rows runs. */
  readonly runExclusively: (work: () => Promise<void>) => Promise<void>;
  /** Optional optimizations after the change. Never rejects. */
  readonly cleanUp: () => Promise<void>;
}

/** Called after the commit. Resolves when new queries see the change. */
export async function applyPostCommitUpdate(update: PostCommitUpdate): Promise<void> {
  await update.runExclusively(async () => {
    update.apply();
    await update.cleanUp();
  });
}
