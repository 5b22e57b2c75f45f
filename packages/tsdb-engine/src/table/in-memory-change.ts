/**
 * Applies a committed file change to a table. All work that can fail precedes the commit; the remaining work is one
 * step in memory. It returns `undefined`, not a promise, so it cannot call the disk, the catalog or DuckDB.
 */
export interface InMemoryChange {
  readonly apply: () => undefined;
  /** Runs work exclusively, while no other change of the table's files and rows runs. */
  readonly runExclusively: (work: () => Promise<void>) => Promise<void>;
  /** Optional optimisations after the change. Never rejects. */
  readonly cleanUp: () => Promise<void>;
}

/** Called after the commit. Resolves when new queries see the change. */
export async function applyInMemory(change: InMemoryChange): Promise<void> {
  await change.runExclusively(async () => {
    change.apply();
    await change.cleanUp();
  });
}
