import type { Clock } from '@plinth/kernel';
import { compareTimes } from '../../../../model/time/calendar.js';
import { FileDamaged } from '../../../../storage/segments/file-sums.js';
import type { TableInMemory } from '../../table/table-in-memory.js';
import type { OpenSegment } from '../../table/table-segments.js';
import type { ColumnCache } from '../cache/column-cache.js';

const CHECK_INTERVAL_MS = 500;
/** Nobody has written, or asked what columns answer, for so long. */
const CALM_MS = 500;
/** Then segments are loaded beside questions, or beside writes. */
const LONGEST_WAIT_MS = { questions: 5_000, writes: 30_000 };
/** The rest of the cache is for what queries ask for themselves. */
const SHARE_OF_CACHE = 0.75;
/** Nobody has asked for it yet: a large cache is filled by what queries ask for. */
const MOST_AHEAD_BYTES = 256 * 1024 * 1024;

/** Segments that are loaded at a time, the newest first: each costs two statements of the engine, however small it is. */
const MAX_SEGMENTS = 64;
/** Smaller ones are loaded in no time when a query asks for them. */
const LEAST_ROWS = 1024;

/** What the preload needs of a table's store. */
export interface PreloadTable {
  readonly segments: readonly OpenSegment[];
  readonly inMemory: Pick<TableInMemory, 'preload' | 'isScattered' | 'gather'>;
}

export interface ColumnPreloadDeps {
  readonly tables: () => Iterable<PreloadTable>;
  readonly cache: ColumnCache;
  readonly clock: Clock;
  readonly writeIdleMs: () => number;
  /** What is in memory moves to segments now or in a moment. */
  readonly isFlushNear: () => boolean;
  readonly onFailed: (error: unknown) => void;
}

/**
 * Loads the columns of the newest segments, and those of rows that will not be flushed soon, while the node has nothing better
 * to do, so that the first queries over them find them: after the start, and after each flush and compaction. Nothing that is
 * in memory makes way for it.
 */
export class ColumnPreload {
  readonly #needs: ColumnPreloadDeps;
  readonly #closing = new AbortController();
  /** The segments that were looked at, by table: a list is replaced when it changes. */
  #seen = new WeakMap<PreloadTable, readonly OpenSegment[]>();
  #waitingSinceMs: number | undefined;
  #ticker: Disposable | undefined;
  #running: Promise<void> | undefined;

  constructor(needs: ColumnPreloadDeps) {
    this.#needs = needs;
  }

  start(): void {
    if (!this.#needs.cache.isEnabled) return;
    this.#ticker ??= this.#needs.clock.every(CHECK_INTERVAL_MS, () => this.#loadWhenCalm());
  }

  async close(): Promise<void> {
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    this.#closing.abort();
    await this.#running;
  }

  #loadWhenCalm(): void {
    if (this.#running !== undefined) return;
    const writeIdleMs = this.#needs.writeIdleMs();
    const isCalm = writeIdleMs >= CALM_MS;
    if (this.#hasNews()) {
      const nowMs = this.#needs.clock.monotonicMs();
      this.#waitingSinceMs ??= nowMs;
      const waitedMs = nowMs - this.#waitingSinceMs;
      const isQuiet = isCalm && this.#needs.cache.loads.idleMs >= CALM_MS;
      const isDue =
        Math.min(waitedMs, writeIdleMs) >= LONGEST_WAIT_MS.questions ||
        waitedMs >= LONGEST_WAIT_MS.writes;
      if (!isQuiet && !isDue) return;
      this.#waitingSinceMs = undefined;
      this.#run(() => this.#load());
    } else if (isCalm && !this.#needs.isFlushNear()) this.#run(() => this.#gather());
  }

  #run(work: () => Promise<void>): void {
    this.#running = work()
      .catch(this.#needs.onFailed)
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #gather(): Promise<void> {
    const { signal } = this.#closing;
    for (const { inMemory } of this.#needs.tables()) {
      const limitBytes = this.#limitBytes;
      if (!signal.aborted && inMemory.isScattered) await inMemory.gather({ limitBytes, signal });
    }
  }

  get #limitBytes(): number {
    return this.#needs.cache.limitBytes * SHARE_OF_CACHE;
  }

  #hasNews(): boolean {
    for (const table of this.#needs.tables())
      if (this.#seen.get(table) !== table.segments) return true;
    return false;
  }

  async #load(): Promise<void> {
    const { signal } = this.#closing;
    const limitBytes = Math.min(this.#limitBytes, this.#needs.cache.sizeBytes + MOST_AHEAD_BYTES);
    const found: { readonly table: PreloadTable; readonly segment: OpenSegment }[] = [];
    for (const table of this.#needs.tables()) {
      this.#seen.set(table, table.segments);
      for (const segment of table.segments)
        if (segment.segment.rowCount >= LEAST_ROWS) found.push({ table, segment });
    }
    found.sort((a, b) => compareTimes(b.segment.segment.maxTime, a.segment.segment.maxTime));
    for (const { table, segment } of found.slice(0, MAX_SEGMENTS)) {
      if (signal.aborted) return;
      try {
        if (!(await table.inMemory.preload(segment, { limitBytes, signal }))) return;
      } catch (error) {
        // Whoever looks at a file reports that it is damaged.
        if (!(error instanceof FileDamaged)) throw error;
      }
    }
  }
}
