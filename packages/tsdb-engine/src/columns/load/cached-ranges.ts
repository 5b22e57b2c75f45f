import { CachedRows } from '../cache/cached-rows.js';
import type { ColumnCache } from '../cache/column-cache.js';
import { timesOfBlocks } from './load-blocks.js';
import type { CachedRange } from './load-rows.js';
import { blocksOf, type RowSource } from './row-source.js';

/** Rows per range of a buffer table: row positions then fit in 16 bits. */
const UNFLUSHED_RANGE_ROWS = 65536;
/** At least this many ranges of similar size are joined with the rows that follow them. */
const JOINED_RANGES = 3;
/** Maximum number of rows that are merged into one range of a buffer table. */
export const MAX_MERGED_ROWS = 4 * 1024 * 1024;
/** Fewer rows of a buffer table load almost instantly on demand. */
const LEAST_MERGED_ROWS = 16384;

/** The rows of one table's sources, divided into ranges. Unflushed rows are in ranges of at most 65,536 rows, in the order of arrival. */
export class CachedRanges {
  readonly #cache: ColumnCache;
  readonly #ranges = new Map<object, CachedRange[]>();
  /**
   * Number of rows by source that could not be merged, because they were too many or cannot be
   * kept in memory.
   */
  readonly #notMerged = new Map<object, number>();

  constructor(cache: ColumnCache) {
    this.#cache = cache;
  }

  /** Ranges that cover all rows of the source. */
  of(source: RowSource): readonly CachedRange[] {
    const { key, kind, rowCount } = source;
    let ranges = this.#ranges.get(key);
    if (ranges === undefined) {
      ranges = [];
      this.#ranges.set(key, ranges);
    }
    if ((ranges.at(-1)?.to ?? 0) >= rowCount) return ranges;
    const rangeRows =
      kind === 'segment' ? evenly(rowCount, this.#cache.cachedRangeRows) : UNFLUSHED_RANGE_ROWS;
    for (const { rows } of ranges.splice(this.#firstJoined(source, ranges, rangeRows)))
      rows.forget();
    const end = ranges.at(-1)?.to ?? 0;
    const inDuckDb = Math.min(rowCount, Math.max(end, source.blocksFrom));
    if (canBeLoaded(source, end)) this.#addRanges(ranges, source, end, rowCount, rangeRows);
    else {
      this.#addRanges(ranges, source, end, inDuckDb, rangeRows);
      this.#addRanges(ranges, source, inDuckDb, rowCount, rangeRows);
    }
    return ranges;
  }

  /**
   * Returns the index of the first of the trailing ranges that are joined with the following rows.
   * Ranges of similar size are joined together. Most queries then load only new rows, each row is
   * copied a few times at most, and there are few ranges.
   */
  #firstJoined(source: RowSource, ranges: readonly CachedRange[], rangeRows: number): number {
    for (let first = ranges.length; ; ) {
      const followingRows = source.rowCount - (ranges[first - 1]?.to ?? 0);
      let at = first;
      let isFull = false;
      for (let range = ranges[at - 1]; range !== undefined; range = ranges[at - 1]) {
        const isLarge = range.to - range.from > 2 * followingRows;
        if (isLarge || range.isMerged || !canBeLoaded(source, range.from)) break;
        isFull = source.rowCount - range.from > rangeRows;
        if (isFull) break;
        at--;
      }
      const isEnough = first - at >= JOINED_RANGES || (isFull && at < first);
      if (!isEnough) return first;
      first = at;
    }
  }

  #addRanges(
    ranges: CachedRange[],
    source: RowSource,
    start: number,
    end: number,
    rangeRows: number,
  ): void {
    for (let from = start; from < end; from += rangeRows) {
      const to = Math.min(end, from + rangeRows);
      const rows = new CachedRows(this.#cache);
      const blocks = blocksOf(source, { from, to });
      if (blocks !== undefined) rows.noteTimes(timesOfBlocks(blocks));
      ranges.push({ from, to, rows, isMerged: false });
    }
  }

  /**
   * Returns the first row to merge; `undefined` if there is nothing to do. A merged range is
   * merged again unless it is more than twice as large as the rows after it. There are then few
   * ranges, and each row is copied a few times at most.
   */
  unmergedFrom(key: object, rowCount: number): number | undefined {
    const merged = (this.#ranges.get(key) ?? []).filter(({ isMerged }) => isMerged);
    let from = merged.at(-1)?.to ?? 0;
    const seen = Math.max(from, this.#notMerged.get(key) ?? 0);
    if (rowCount - seen < Math.max(LEAST_MERGED_ROWS, seen - from)) return undefined;
    for (const range of merged.toReversed()) {
      const isLarge = range.to - range.from > 2 * (rowCount - range.to);
      if (isLarge || rowCount - range.from > MAX_MERGED_ROWS) break;
      from = range.from;
    }
    return from;
  }

  /**
   * Replaces all ranges from the merged range's first row on. Returns false if the source no longer
   * exists.
   */
  putMerged(key: object, range: CachedRange): boolean {
    const ranges = this.#ranges.get(key);
    if (ranges === undefined) return false;
    for (const { rows } of ranges.filter((each) => each.to > range.from)) rows.forget();
    this.#ranges.set(key, [...ranges.filter((each) => each.to <= range.from), range]);
    return true;
  }

  /** Stops further attempts to merge these rows until there are more. */
  noteNotMerged(key: object, to: number): void {
    if (this.#ranges.has(key)) this.#notMerged.set(key, to);
  }

  /** Evicts the ranges of all sources except these. */
  evictExcept(keys: ReadonlySet<object>): void {
    for (const [key, ranges] of this.#ranges) {
      if (keys.has(key)) continue;
      for (const { rows } of ranges) rows.forget();
      this.#ranges.delete(key);
    }
    for (const key of this.#notMerged.keys()) if (!keys.has(key)) this.#notMerged.delete(key);
  }
}

/** Returns the size of equal pieces of at most `most` each, with as few pieces as possible. */
const evenly = (count: number, most: number): number => Math.ceil(count / Math.ceil(count / most));

/** Whether all rows of the source from `from` on are in DuckDB, or all are in blocks. */
function canBeLoaded(source: RowSource, from: number): boolean {
  return from >= source.blocksFrom || source.duckDbRows === source.rowCount;
}
