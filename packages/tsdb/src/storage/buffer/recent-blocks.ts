import type { BlockMemory } from './block-memory.js';
import type { RowBlock } from './row-block.js';

/** Rows of a table that are kept as they were written, and so many rows after a question nobody asks any more. */
const MAX_RECENT_ROWS = 65_536;

interface RecentBlock {
  readonly block: RowBlock;
  readonly sizeBytes: number;
}

/**
 * The last blocks of a table whose rows are in the engine. While queries ask about rows that are being written, they find the
 * new ones here, which takes less than reading them back. All tables together keep no more than `BlockMemory` lets them.
 */
export class RecentBlocks {
  readonly #memory: BlockMemory;
  /** Oldest first, without a gap up to the last row in the engine. */
  #kept: RecentBlock[] = [];
  #askedAtRow: number | undefined;
  rowCount = 0;

  constructor(memory: BlockMemory) {
    this.#memory = memory;
  }

  get blocks(): readonly RowBlock[] {
    return this.#kept.map(({ block }) => block);
  }

  /** Somebody looks at all rows when there are so many. */
  noteAsked(rowCount: number): void {
    this.#askedAtRow = rowCount;
  }

  /** The rows of `block` are in the engine now, `engineRows` with those before them. */
  add(block: RowBlock, engineRows: number): void {
    const isAsked =
      this.#askedAtRow !== undefined && engineRows - this.#askedAtRow < MAX_RECENT_ROWS;
    const { sizeBytes } = block;
    while (this.rowCount + block.count > MAX_RECENT_ROWS && this.#kept.length > 0)
      this.#dropFirst();
    if (!isAsked || !this.#takeMemory(sizeBytes)) {
      this.forget();
      block.retire();
      return;
    }
    block.dropTexts();
    this.#kept.push({ block, sizeBytes });
    this.rowCount += block.count;
  }

  /** Newer rows go before older ones. */
  #takeMemory(sizeBytes: number): boolean {
    for (;;) {
      if (this.#memory.takeForRecent(sizeBytes)) return true;
      if (this.#kept.length === 0) return false;
      this.#dropFirst();
    }
  }

  forget(): void {
    while (this.#kept.length > 0) this.#dropFirst();
  }

  #dropFirst(): void {
    const first = this.#kept.shift();
    if (first === undefined) return;
    this.#memory.releaseRecent(first.sizeBytes);
    this.rowCount -= first.block.count;
    first.block.retire();
  }
}
