import type { BlockMemory } from './block-memory.js';
import type { RowBlock } from './row-block.js';

/**
 * Maximum number of rows kept per table. After this many new rows without a query, none are kept.
 */
const MAX_RECENT_ROWS = 65_536;

interface RecentBlock {
  readonly block: RowBlock;
  readonly sizeBytes: number;
}

/**
 * The latest blocks of a table whose rows are already in DuckDB. Queries of recent rows read them
 * here, which is cheaper than reading them back. `BlockMemory` limits the total over all tables.
 */
export class RecentBlocks {
  readonly #memory: BlockMemory;
  /** Oldest first, contiguous up to the last row in DuckDB. */
  #blocks: RecentBlock[] = [];
  #queriedAtRow: number | undefined;
  rowCount = 0;

  constructor(memory: BlockMemory) {
    this.#memory = memory;
  }

  get blocks(): readonly RowBlock[] {
    return this.#blocks.map(({ block }) => block);
  }

  /** Records that a query read the rows when there were `rowCount` rows. */
  noteQuery(rowCount: number): void {
    this.#queriedAtRow = rowCount;
  }

  /** Adds a block that was moved to DuckDB, which then has `duckDbRows` rows. */
  add(block: RowBlock, duckDbRows: number): void {
    const isQueried =
      this.#queriedAtRow !== undefined && duckDbRows - this.#queriedAtRow < MAX_RECENT_ROWS;
    const { sizeBytes } = block;
    while (this.rowCount + block.count > MAX_RECENT_ROWS && this.#blocks.length > 0)
      this.#dropFirst();
    if (!isQueried || !this.#takeMemory(sizeBytes)) {
      this.clear();
      block.releaseMemory();
      return;
    }
    block.dropTexts();
    this.#blocks.push({ block, sizeBytes });
    this.rowCount += block.count;
  }

  /** Takes memory for a new block, dropping older blocks if needed. */
  #takeMemory(sizeBytes: number): boolean {
    for (;;) {
      if (this.#memory.takeForRecent(sizeBytes)) return true;
      if (this.#blocks.length === 0) return false;
      this.#dropFirst();
    }
  }

  clear(): void {
    while (this.#blocks.length > 0) this.#dropFirst();
  }

  #dropFirst(): void {
    const first = this.#blocks.shift();
    if (first === undefined) return;
    this.#memory.releaseRecent(first.sizeBytes);
    this.rowCount -= first.block.count;
    first.block.releaseMemory();
  }
}
