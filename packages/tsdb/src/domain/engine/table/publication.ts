/**
 * How a table takes over a change of its files that is committed. All that can fail was done before the commit; what is left is
 * one step in memory. It gives back nothing, and no promise: no call of a disk, the catalog or the engine fits into it.
 */
export interface Publication {
  readonly publish: () => undefined;
  /** Runs alone among all that changes which files and rows the table has. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  /** Makes faster what is right without it. Never rejects. */
  readonly tidy: () => Promise<void>;
}

/** Behind the commit: resolves when queries that begin see the change. */
export async function publish(publication: Publication): Promise<void> {
  await publication.alone(async () => {
    publication.publish();
    await publication.tidy();
  });
}
