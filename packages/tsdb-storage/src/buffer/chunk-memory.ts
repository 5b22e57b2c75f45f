import type duckdb from '@duckdb/node-bindings';

/** Maximum number of columns of all kept chunks; most columns use 16 KB. */
const MAX_KEPT_COLUMNS = 512;

/**
 * Reusable chunks for appending rows with the same column types. The binding frees a chunk only
 * when it is collected, and the garbage collector does not account for its memory. Without reuse, a
 * million rows left more than a hundred megabytes uncollected.
 */
export class ChunkMemory {
  /** Chunks by column types; the most recently released one is last. */
  readonly #kept = new Map<string, KeptChunk>();
  #keptColumns = 0;

  /** Returns an empty chunk that the caller owns; `undefined` if the caller must create one. */
  take(types: string): duckdb.DataChunk | undefined {
    const kept = this.#kept.get(types);
    if (kept !== undefined) this.#drop(types, kept);
    return kept?.chunk;
  }

  /** Releases an empty chunk with columns of these types. */
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
