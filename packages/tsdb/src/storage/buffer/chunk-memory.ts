import type duckdb from '@duckdb/node-bindings';

/** Columns of all chunks that are kept, of 16 KB each mostly. */
const MAX_KEPT_COLUMNS = 512;

/**
 * Chunks that carry rows into the engine, for later rows of the same columns. The binding frees a chunk when it is collected,
 * and the runtime knows nothing of its memory: a million rows in chunks of their own were more than a hundred megabytes
 * that waited for it.
 */
export class ChunkMemory {
  /** By column types; what was given back last comes last. */
  readonly #kept = new Map<string, KeptChunk>();
  #keptColumns = 0;

  /** An empty chunk that the caller owns; `undefined`: it has to make one. */
  take(types: string): duckdb.DataChunk | undefined {
    const kept = this.#kept.get(types);
    if (kept !== undefined) this.#drop(types, kept);
    return kept?.chunk;
  }

  /** `chunk` is empty, and its columns have these types. */
  release(types: string, chunk: duckdb.DataChunk, columnCount: number): void {
    if (columnCount > MAX_KEPT_COLUMNS || this.#kept.has(types)) return;
    this.#kept.set(types, { chunk, columnCount });
    this.#keptColumns += columnCount;
    for (const [oldest, kept] of this.#kept) {
      if (this.#keptColumns <= MAX_KEPT_COLUMNS) return;
      this.#drop(oldest, kept);
    }
  }

  #drop(types: string, { columnCount }: KeptChunk): void {
    this.#kept.delete(types);
    this.#keptColumns -= columnCount;
  }
}

interface KeptChunk {
  readonly chunk: duckdb.DataChunk;
  readonly columnCount: number;
}
