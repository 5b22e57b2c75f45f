import { CachedRows } from '../cache/cached-rows.js';
import type { ColumnCache } from '../cache/column-cache.js';
import { timesOfBlocks } from './load-blocks.js';
import type { RowUnit } from './load-rows.js';
import { blocksOf, type RowSource } from './row-source.js';

/** Rows per page of a buffer table: row positions then fit in 16 bits. */
const PAGE_ROWS = 65536;
/** At least this many pages of similar size are joined with the rows that follow them. */
const JOINED_PAGES = 3;
/** Maximum number of rows that are merged into one unit of a buffer table. */
export const MAX_MERGED_ROWS = 4 * 1024 * 1024;
/** Fewer rows of a buffer table load almost instantly on demand. */
const LEAST_MERGED_ROWS = 16384;

/** The rows of one table's sources, divided into units. A unit is loaded and evicted as one. */
export class RowUnits {
  readonly #cache: ColumnCache;
  readonly #units = new Map<object, RowUnit[]>();
  /**
   * Number of rows by source that could not be merged, because they were too many or cannot be
   * kept in memory.
   */
  readonly #notMerged = new Map<object, number>();

  constructor(cache: ColumnCache) {
    this.#cache = cache;
  }

  /** Units that cover all rows of the source. */
  of(source: RowSource): readonly RowUnit[] {
    const { key, kind, rowCount } = source;
    let units = this.#units.get(key);
    if (units === undefined) {
      units = [];
      this.#units.set(key, units);
    }
    if ((units.at(-1)?.to ?? 0) >= rowCount) return units;
    const pageRows = kind === 'segment' ? evenly(rowCount, this.#cache.segmentUnitRows) : PAGE_ROWS;
    for (const { rows } of units.splice(this.#firstJoined(source, units, pageRows))) rows.forget();
    const end = units.at(-1)?.to ?? 0;
    const inDuckDb = Math.min(rowCount, Math.max(end, source.blocksFrom));
    if (canBeLoaded(source, end)) this.#addPages(units, source, end, rowCount, pageRows);
    else {
      this.#addPages(units, source, end, inDuckDb, pageRows);
      this.#addPages(units, source, inDuckDb, rowCount, pageRows);
    }
    return units;
  }

  /**
   * Returns the index of the first of the last pages that are joined with the following rows. Pages
   * of similar size are joined together. Most queries then load only new rows, each row is copied a
   * few times at most, and there are few pages.
   */
  #firstJoined(source: RowSource, units: readonly RowUnit[], pageRows: number): number {
    for (let first = units.length; ; ) {
      const followingRows = source.rowCount - (units[first - 1]?.to ?? 0);
      let at = first;
      let isFull = false;
      for (let unit = units[at - 1]; unit !== undefined; unit = units[at - 1]) {
        const isLarge = unit.to - unit.from > 2 * followingRows;
        if (isLarge || unit.isMerged || !canBeLoaded(source, unit.from)) break;
        isFull = source.rowCount - unit.from > pageRows;
        if (isFull) break;
        at--;
      }
      const isEnough = first - at >= JOINED_PAGES || (isFull && at < first);
      if (!isEnough) return first;
      first = at;
    }
  }

  #addPages(
    units: RowUnit[],
    source: RowSource,
    start: number,
    end: number,
    pageRows: number,
  ): void {
    for (let from = start; from < end; from += pageRows) {
      const to = Math.min(end, from + pageRows);
      const rows = new CachedRows(this.#cache);
      const blocks = blocksOf(source, { from, to });
      if (blocks !== undefined) rows.noteTimes(timesOfBlocks(blocks));
      units.push({ from, to, rows, isMerged: false });
    }
  }

  /**
   * Returns the first row to merge; `undefined` if there is nothing to do. A merged unit is
   * merged again unless it is more than twice as large as the rows after it. There are then few
   * units, and each row is copied a few times at most.
   */
  unmergedFrom(key: object, rowCount: number): number | undefined {
    const merged = (this.#units.get(key) ?? []).filter(({ isMerged }) => isMerged);
    let from = merged.at(-1)?.to ?? 0;
    const seen = Math.max(from, this.#notMerged.get(key) ?? 0);
    if (rowCount - seen < Math.max(LEAST_MERGED_ROWS, seen - from)) return undefined;
    for (const unit of merged.toReversed()) {
      const isLarge = unit.to - unit.from > 2 * (rowCount - unit.to);
      if (isLarge || rowCount - unit.from > MAX_MERGED_ROWS) break;
      from = unit.from;
    }
    return from;
  }

  /**
   * Replaces all units from the merged unit's first row on. Returns false if the source no longer
   * exists.
   */
  putMerged(key: object, unit: RowUnit): boolean {
    const units = this.#units.get(key);
    if (units === undefined) return false;
    for (const { rows } of units.filter((each) => each.to > unit.from)) rows.forget();
    this.#units.set(key, [...units.filter((each) => each.to <= unit.from), unit]);
    return true;
  }

  /** Stops further attempts to merge these rows until there are more. */
  noteNotMerged(key: object, to: number): void {
    if (this.#units.has(key)) this.#notMerged.set(key, to);
  }

  /** Evicts the units of all sources except these. */
  retain(keys: ReadonlySet<object>): void {
    for (const [key, units] of this.#units) {
      if (keys.has(key)) continue;
      for (const { rows } of units) rows.forget();
      this.#units.delete(key);
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
