import { CachedRows } from '../cache/cached-rows.js';
import type { ColumnCache } from '../cache/column-cache.js';
import { timesOfBlocks } from './load-blocks.js';
import type { RowUnit } from './load-rows.js';
import { blocksOf, type RowSource } from './row-source.js';

/** Rows of a buffer table that are kept as one: a part's places fit 16 bits. */
const PAGE_ROWS = 65536;
/** So many pages of about one size wait for a further one before they become one. */
const JOINED_PAGES = 3;
/** Of a buffer table. */
export const MAX_GATHERED_ROWS = 4 * 1024 * 1024;
/** Fewer rows of a buffer table are loaded in no time when a query asks for them. */
const LEAST_GATHERED_ROWS = 16384;

/** The rows of one table's sources, cut into units that are in memory as a whole or not at all. */
export class RowUnits {
  readonly #cache: ColumnCache;
  readonly #units = new Map<object, RowUnit[]>();
  /** By source, the rows that were found to be too many, or of no form, to be gathered. */
  readonly #notGathered = new Map<object, number>();

  constructor(cache: ColumnCache) {
    this.#cache = cache;
  }

  /** Those with all rows of the source. */
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
    const inEngine = Math.min(rowCount, Math.max(end, source.blocksFrom));
    if (canBeLoaded(source, end)) this.#addPages(units, source, end, rowCount, pageRows);
    else {
      this.#addPages(units, source, end, inEngine, pageRows);
      this.#addPages(units, source, inEngine, rowCount, pageRows);
    }
    return units;
  }

  /**
   * The first of the last pages that become one with what follows them. Pages of about one size wait for each other, so that
   * most questions take up new rows only, each row is taken up a few times at most, and pages are few.
   */
  #firstJoined(source: RowSource, units: readonly RowUnit[], pageRows: number): number {
    for (let first = units.length; ; ) {
      const followingRows = source.rowCount - (units[first - 1]?.to ?? 0);
      let at = first;
      let isFull = false;
      for (let unit = units[at - 1]; unit !== undefined; unit = units[at - 1]) {
        const isLarge = unit.to - unit.from > 2 * followingRows;
        if (isLarge || unit.isGathered || !canBeLoaded(source, unit.from)) break;
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
      units.push({ from, to, rows, isGathered: false });
    }
  }

  /**
   * The first row to gather; `undefined`: there is nothing to do. Gathered units are taken up again as long as they are not
   * twice as large as what follows them, so that there are few units and each row is taken up a few times at most.
   */
  scatteredFrom(key: object, rowCount: number): number | undefined {
    const gathered = (this.#units.get(key) ?? []).filter(({ isGathered }) => isGathered);
    let from = gathered.at(-1)?.to ?? 0;
    const seen = Math.max(from, this.#notGathered.get(key) ?? 0);
    if (rowCount - seen < Math.max(LEAST_GATHERED_ROWS, seen - from)) return undefined;
    for (const unit of gathered.toReversed()) {
      const isLarge = unit.to - unit.from > 2 * (rowCount - unit.to);
      if (isLarge || rowCount - unit.from > MAX_GATHERED_ROWS) break;
      from = unit.from;
    }
    return from;
  }

  /** Puts a gathered unit in the place of all from its first row on. False: the source has gone. */
  putGathered(key: object, unit: RowUnit): boolean {
    const units = this.#units.get(key);
    if (units === undefined) return false;
    for (const { rows } of units.filter((each) => each.to > unit.from)) rows.forget();
    this.#units.set(key, [...units.filter((each) => each.to <= unit.from), unit]);
    return true;
  }

  /** These rows are not tried again before there are more. */
  noteNotGathered(key: object, to: number): void {
    if (this.#units.has(key)) this.#notGathered.set(key, to);
  }

  /** Gives up what belongs to other sources than these. */
  retain(keys: ReadonlySet<object>): void {
    for (const [key, units] of this.#units) {
      if (keys.has(key)) continue;
      for (const { rows } of units) rows.forget();
      this.#units.delete(key);
    }
    for (const key of this.#notGathered.keys()) if (!keys.has(key)) this.#notGathered.delete(key);
  }
}

/** The size of as few equal pieces as there can be of at most `most`. */
const evenly = (count: number, most: number): number => Math.ceil(count / Math.ceil(count / most));

/** Whether all rows of the source from one on are in the engine, or all in blocks. */
function canBeLoaded(source: RowSource, from: number): boolean {
  return from >= source.blocksFrom || source.engineRows === source.rowCount;
}
