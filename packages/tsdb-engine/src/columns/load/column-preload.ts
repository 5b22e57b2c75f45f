import type { Clock } from '@plinth/kernel';
import { compareTimes } from '@plinth/tsdb-model/time/calendar.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { TableColumnQueries } from '../../table/table-column-queries.js';
import type { OpenSegment } from '../../table/table-segments.js';
import type { ColumnCache } from '../cache/column-cache.js';

const CHECK_INTERVAL_MS = 500;
/**
 * Preloading starts after this long without writes and without queries that columns in memory could
 * serve.
 */
const IDLE_MS = 500;
/** After this long, segments are loaded despite queries or writes. */
const MAX_WAIT_MS = { queries: 5_000, writes: 30_000 };
/** The remaining cache is reserved for columns that queries request. */
const SHARE_OF_CACHE = 0.75;
/** Preloaded columns may not be used, so most of a large cache is left to queries. */
const MOST_AHEAD_BYTES = 256 * 1024 * 1024;

/**
 * Segments visited per pass, newest first: loading the columns of a segment takes two DuckDB
 * statements.
 */
const MAX_SEGMENTS = 64;
/** Smaller segments load almost instantly on demand. */
const LEAST_ROWS = 1024;

/** The parts of a table's store that the preload uses. */
export interface PreloadTable {
  readonly segments: readonly OpenSegment[];
  readonly columnQueries: Pick<
    TableColumnQueries,
    'prepare' | 'preload' | 'hasManyCachedRanges' | 'mergeCachedRanges'
  >;
}

export interface ColumnPreloadDeps {
  readonly tables: () => Iterable<PreloadTable>;
  readonly cache: ColumnCache;
  readonly clock: Clock;
  readonly writeIdleMs: () => number;
  /** True if a flush is running or about to start, which moves the unflushed rows to segments. */
  readonly isFlushNear: () => boolean;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Reads the indexes of the newest segments while the node is idle. For tables that queries read,
 * also loads the columns of segments and of rows that will not be flushed soon. It runs after the
 * start and after each flush and compaction, so that the next queries find both in memory. It never
 * evicts other entries.
 */
export class ColumnPreload {
  readonly #deps: ColumnPreloadDeps;
  readonly #closing = new AbortController();
  /** The segments already visited, by table: a list is replaced when it changes. */
  #seen = new WeakMap<PreloadTable, readonly OpenSegment[]>();
  #waitingSinceMs: number | undefined;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;

  constructor(deps: ColumnPreloadDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (!this.#deps.cache.isEnabled) return;
    this.#ticker ??= this.#deps.clock.every(CHECK_INTERVAL_MS, () => this.#loadWhenIdle());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    this.#closing.abort();
    await this.#running;
  }

  #loadWhenIdle(): void {
    if (this.#running !== undefined) return;
    const writeIdleMs = this.#deps.writeIdleMs();
    const areWritesIdle = writeIdleMs >= IDLE_MS;
    if (this.#hasNewSegments()) {
      const nowMs = this.#deps.clock.monotonicMs();
      this.#waitingSinceMs ??= nowMs;
      const waitedMs = nowMs - this.#waitingSinceMs;
      const isIdle = areWritesIdle && this.#deps.cache.loads.idleMs >= IDLE_MS;
      const isDue =
        Math.min(waitedMs, writeIdleMs) >= MAX_WAIT_MS.queries || waitedMs >= MAX_WAIT_MS.writes;
      if (!isIdle && !isDue) return;
      this.#waitingSinceMs = undefined;
      this.#run(() => this.#load());
    } else if (areWritesIdle && !this.#deps.isFlushNear())
      this.#run(() => this.#mergeCachedRanges());
  }

  #run(work: () => Promise<void>): void {
    this.#running = work()
      .catch(this.#deps.onFailed)
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #mergeCachedRanges(): Promise<void> {
    const { signal } = this.#closing;
    for (const { columnQueries } of this.#deps.tables()) {
      const limitBytes = this.#limitBytes;
      if (!signal.aborted && columnQueries.hasManyCachedRanges)
        await columnQueries.mergeCachedRanges({ limitBytes, signal });
    }
  }

  get #limitBytes(): number {
    return this.#deps.cache.limitBytes * SHARE_OF_CACHE;
  }

  #hasNewSegments(): boolean {
    for (const table of this.#deps.tables())
      if (this.#seen.get(table) !== table.segments) return true;
    return false;
  }

  async #load(): Promise<void> {
    const { signal } = this.#closing;
    const limitBytes = Math.min(this.#limitBytes, this.#deps.cache.sizeBytes + MOST_AHEAD_BYTES);
    const found: { readonly table: PreloadTable; readonly segment: OpenSegment }[] = [];
    for (const table of this.#deps.tables()) {
      this.#seen.set(table, table.segments);
      for (const segment of table.segments)
        if (segment.segment.rowCount >= LEAST_ROWS) found.push({ table, segment });
    }
    found.sort((a, b) => compareTimes(b.segment.segment.maxTime, a.segment.segment.maxTime));
    const newest = found.slice(0, MAX_SEGMENTS);
    // Reading the indexes of all files takes only as long as loading one column.
    for (const { table, segment } of newest)
      await this.#unlessDamaged(() => table.columnQueries.prepare(segment));
    for (const { table, segment } of newest) {
      const load = () => table.columnQueries.preload(segment, { limitBytes, signal });
      if (signal.aborted || (await this.#unlessDamaged(load)) === false) return;
    }
  }

  /** The reader that opens a damaged file reports the damage. */
  async #unlessDamaged<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#closing.signal.aborted) return undefined;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof FileDamaged)) throw error;
      return undefined;
    }
  }
}
