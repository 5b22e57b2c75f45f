/** Statements say the first; rows that are handed over say which block found no room. */
const OUT_OF_MEMORY = /^Out of Memory Error|could not allocate block|failed to pin block/;

/** The engine had no room for what a statement needs at a time. */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && OUT_OF_MEMORY.test(error.message);
