import type { Clock, Leases } from '@plinth/kernel';
import type { GenerationTable } from '../table/generation-table.js';
import type { ClosedGeneration, WriteSequencer } from '../write/write-sequencer.js';
import { FlushFailures } from './flush-failures.js';
import { FlushGroups, type FlushGroupsDeps } from './flush-groups.js';
import { hasManySeries, tablesToKeep } from './kept-tables.js';
import { PublishedTablesFlush } from './published-tables-flush.js';
import { WorkProgress, type WorkState } from './work-progress.js';

export interface FlushSettings {
  /** A generation is flushed at this size. */
  readonly flushBytes: number;
  /** A generation is flushed when its first row is this old. */
  readonly flushAgeMs: number;
  /** Maximum number of tables that are written and registered together. */
  readonly maxGroupTables: number;
  /** Maximum number of small tables per flush: see `tablesToKeep`. */
  readonly maxSmallTables: number;
}

/**
 * A generation of this size is flushed as soon as writes pause. Segments are sorted by series, so
 * queries for a few series read little data, and no client waits for the work.
 */
const IDLE_FLUSH_BYTES = 128 * 1024 * 1024;
const IDLE_FLUSH_MS = 1000;

/** Delays after a failed flush: doubled after each failure, up to the maximum. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const CHECK_INTERVAL_MS = 1000;

/**
 * Size of the log that may remain at shutdown. It is read in a few tenths of a second at the next start.
 */
const MAX_DEFERRED_BYTES = 8 * 1024 * 1024;
/**
 * Maximum number of log files that may remain at shutdown. Each start creates a file, and many
 * files are slow to read even if they are short.
 */
const MAX_DEFERRED_FILES = 32;
/** A shutdown starts no further files after this time. */
const LONGEST_END_MS = 3000;
/** Minimum age of rows in DuckDB that are flushed early because its memory is scarce. */
const CROWDED_FLUSH_AGE_MS = 10_000;

/** All tables, all except those that `tablesToKeep` leaves to a later flush, or only tables that are published as Iceberg tables. */
export type FlushScope = 'all' | 'worthwhile' | 'published';

/** The rows remain in the log; the node with the lease flushes them. */
class FlushHeldElsewhere extends Error {
  override readonly name = 'FlushHeldElsewhere';
}

/** The node is stopping, so the rows remain in the log for the next start. */
class FlushDeferred extends Error {
  override readonly name = 'FlushDeferred';
}

export interface FlusherDeps
  extends Omit<FlushGroupsDeps, 'maxGroupTables' | 'mustStop' | 'onProgress'> {
  readonly sequencer: WriteSequencer;
  /**
   * Checks the free disk space. If it returns false, the remaining space is reserved for deletions.
   */
  readonly hasSpaceFor: (sizeBytes: number) => boolean;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly settings: FlushSettings;
  readonly onFailed: (error: unknown, retryMs: number) => void;
  /** Called for log files that could not be removed. */
  readonly onError: (error: unknown) => void;
  readonly onFlushed: (durationMs: number) => void;
  /** Called if the node stops before all rows are in files. */
  readonly onDeferred: () => void;
}

/**
 * Flushes generations to segments, one at a time: by size, by age, when writes pause, and at
 * shutdown.
 */
export class Flusher {
  readonly #deps: FlusherDeps;
  readonly #sequencer: WriteSequencer;
  readonly #groups: FlushGroups;
  readonly #progress: WorkProgress;
  #closed: ClosedGeneration | undefined;
  #running: Promise<void> | undefined;
  #ticker: Disposable | undefined;
  readonly #failures = new FlushFailures();
  readonly publishedTables: PublishedTablesFlush;
  #retryMs = FIRST_RETRY_MS;
  #notBeforeMs = 0;
  #isRequested = false;
  /** Set once at the start, because a file that cannot be removed must not cause flushes forever. */
  #mayHaveObsoleteFiles = false;
  /**
   * First log file with rows in segments that would be read again at the next start.
   */
  #firstLogFileInSegments: number | undefined;
  /** Deadline of the shutdown; set by `close`. */
  #stopAtMs = Number.POSITIVE_INFINITY;

  constructor(deps: FlusherDeps) {
    this.#deps = deps;
    this.#sequencer = deps.sequencer;
    const { maxGroupTables } = deps.settings;
    this.#progress = new WorkProgress(deps.clock);
    this.publishedTables = new PublishedTablesFlush(deps);
    this.#groups = new FlushGroups({
      ...deps,
      maxGroupTables,
      mustStop: () => this.#mustStop,
      onProgress: (tableCount, doneCount) => this.#progress.note(tableCount, doneCount),
    });
  }

  start(): void {
    this.#ticker ??= this.#deps.clock.every(CHECK_INTERVAL_MS, () => {
      this.#sequencer.recheckFreeSpace();
      this.flushWhenDue();
      if (this.#mayStart && this.publishedTables.checkDue()) this.#start('published');
    });
  }

  /**
   * Returns the reason why rows stay in memory and in the log; `undefined` unless flushes have
   * failed for minutes.
   */
  get obstacle(): string | undefined {
    return this.#failures.obstacle(this.#deps.clock.monotonicMs());
  }

  get state(): WorkState {
    return this.#progress.state;
  }

  /** True if a flush is running or starts as soon as writes pause. */
  get isNear(): boolean {
    return (
      this.#running !== undefined ||
      this.#closed !== undefined ||
      this.#sequencer.generationBytes >= IDLE_FLUSH_BYTES
    );
  }

  /**
   * Starts a flush in the background if size or age require it. The check is cheap, because it runs
   * after every write.
   */
  flushWhenDue(): void {
    if (!this.#mayStart) return;
    const { flushBytes, flushAgeMs } = this.#deps.settings;
    const isDue =
      this.#closed !== undefined ||
      (this.#isRequested && this.#hasWork) ||
      (this.#mayHaveObsoleteFiles && this.#sequencer.hasObsoleteFiles) ||
      this.#sequencer.generationBytes >= flushBytes ||
      this.#sequencer.generationAgeMs >= flushAgeMs ||
      (this.#deps.duckDb.tableMemory.isCrowded &&
        this.#sequencer.generationAgeMs >= CROWDED_FLUSH_AGE_MS) ||
      (this.#sequencer.generationBytes >= IDLE_FLUSH_BYTES &&
        this.#sequencer.idleMs >= IDLE_FLUSH_MS);
    if (isDue) this.#start(this.#isRequested ? 'all' : 'worthwhile');
  }

  get #hasWork(): boolean {
    return this.#sequencer.generationBytes > 0 || this.#sequencer.hasObsoleteFiles;
  }

  get #mayStart(): boolean {
    return this.#running === undefined && !this.#sequencer.isReadOnly;
  }

  #start(scope: FlushScope): void {
    if (this.#deps.clock.monotonicMs() < this.#notBeforeMs) return;
    // A flush also removes rows of deleted tables from the log, which may free more than it writes.
    if (!this.#isRequested && !this.#deps.hasSpaceFor(this.#sequencer.sizeBytes)) return;
    if (this.#closed === undefined && scope === 'all') this.#isRequested = false;
    this.#mayHaveObsoleteFiles = false;
    this.#running = this.#flushOnce(scope)
      .then(() => {
        this.#retryMs = FIRST_RETRY_MS;
        this.#failures.ended();
      })
      .catch((error: unknown) => {
        if (error instanceof FlushDeferred) return;
        this.#notBeforeMs = this.#deps.clock.monotonicMs() + this.#retryMs;
        this.#failures.failed(error, this.#deps.clock.monotonicMs());
        this.#deps.onFailed(error, this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Starts a flush in the background after any running one, regardless of size and age. */
  flushSoon(): void {
    this.#isRequested = true;
    this.flushWhenDue();
  }

  /**
   * Starts a flush of the current rows like `flushSoon`, but also directly after a failed flush.
   * Used for operator requests.
   */
  flushNow(): void {
    this.#notBeforeMs = 0;
    if (this.#hasWork) this.#isRequested = true;
    this.flushWhenDue();
  }

  /** Flushes everything written before the call. Throws on failure. */
  async flush(scope: FlushScope): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    const flushing = this.#flushRest(scope);
    const running = flushing.catch(() => undefined); // the caller of `flushing` receives the failure
    this.#running = running;
    try {
      await flushing;
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  /**
   * Flushes the log records read so far during startup: all records of files up to `file` and some of the next file.
   * They are read again at the next start unless a flush of all rows follows. Until then, no deletion that hides some
   * of these rows may be dropped.
   */
  async flushReplayed(file: number): Promise<void> {
    this.#closed ??= this.#sequencer.closeReplayed(file);
    this.#firstLogFileInSegments = file + 1;
    if (!(await this.#flushOnce('all'))) throw new FlushHeldElsewhere();
  }

  /** Called after the last record was read. Flushes the remaining rows if `flushReplayed` was called. */
  async endReplay(): Promise<void> {
    if (this.#closed !== undefined && !(await this.#flushOnce('all')))
      throw new FlushHeldElsewhere();
    if (this.hasRowsInSegmentsAndLog && !(await this.#flushOnce('all')))
      throw new FlushHeldElsewhere();
  }

  /** Called once after startup if every record was restored, was flushed before, or belongs to a deleted table. */
  removeObsoleteFiles(): void {
    this.#mayHaveObsoleteFiles = true;
  }

  /** True if segments contain rows that would also be read from the log at the next start. */
  get hasRowsInSegmentsAndLog(): boolean {
    return this.#firstLogFileInSegments !== undefined;
  }

  /**
   * Called after `close`. Flushes enough rows to keep the replay at the next start short, unless this takes too long.
   */
  async flushLast(): Promise<void> {
    try {
      if (!this.#isStartShort) await this.#flushRest('worthwhile');
    } catch (error) {
      // A failure loses no rows, because they are still in the log.
      if (!(error instanceof FlushDeferred)) this.#deps.onFailed(error, 0);
    }
    if (this.#sequencer.sizeBytes > 0) this.#deps.onDeferred();
  }

  /** True if startup is fast even if the log still contains all rows. */
  get #isStartShort(): boolean {
    const { sizeBytes, fileCount } = this.#sequencer.logLength;
    if (sizeBytes > MAX_DEFERRED_BYTES || fileCount > MAX_DEFERRED_FILES) return false;
    for (const store of this.#deps.tables())
      if (store.minBufferedSeq !== undefined && hasManySeries(store)) return false;
    return true;
  }

  /** Flushes a generation left by a failed flush, if any, and the current one. */
  async #flushRest(scope: FlushScope): Promise<void> {
    if (this.#closed !== undefined && !(await this.#flushOnce(scope)))
      throw new FlushHeldElsewhere();
    if (this.#hasWork && !(await this.#flushOnce(scope))) throw new FlushHeldElsewhere();
  }

  /** Prevents further flushes except `flushLast`. Resolves when any running flush has ended. */
  async close(): Promise<void> {
    this.#stopAtMs = this.#deps.clock.monotonicMs() + (this.#isStartShort ? 0 : LONGEST_END_MS);
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#running;
  }

  /** Returns false if another node holds the lease. */
  async #flushOnce(scope: FlushScope): Promise<boolean> {
    return await this.#progress.of(() => this.#flushClosed(scope));
  }

  async #flushClosed(scope: FlushScope): Promise<boolean> {
    const keepsNone = scope === 'all' || this.hasRowsInSegmentsAndLog;
    const isForPublished = scope === 'published' && !keepsNone;
    const kept = keepsNone ? [] : isForPublished ? this.#unpublishedToKeep() : this.#toKeep();
    this.#closed ??= await this.#sequencer.closeGeneration(kept, isForPublished);
    const closed = this.#closed;
    const isFlushed = await this.#deps.leases.withLease('tsdb.flush', async () => {
      const startMs = this.#deps.clock.monotonicMs();
      if (!(await this.#groups.write(closed))) throw new FlushDeferred();
      this.#deps.onFlushed(this.#deps.clock.monotonicMs() - startMs);
      return true;
    });
    if (isFlushed !== true) return false;
    this.#closed = undefined;
    if (closed.lastRemovableFile >= (this.#firstLogFileInSegments ?? 0))
      this.#firstLogFileInSegments = undefined;
    // Remaining log files are removed by the next flush or at the next start. The registry records that their rows
    // are in segments.
    await this.#sequencer.removeFlushed(closed).catch(this.#deps.onError);
    return true;
  }

  #unpublishedToKeep(): readonly GenerationTable[] {
    const { fileCount } = this.#sequencer.logLength;
    const kept = fileCount > MAX_DEFERRED_FILES ? this.#toKeep() : undefined;
    return this.publishedTables.beginFlush(this.#sequencer.generation, kept);
  }

  #toKeep(): readonly GenerationTable[] {
    return tablesToKeep({
      stores: this.#deps.tables(),
      generation: this.#sequencer.generation,
      ...this.#deps.settings,
      logBytes: this.#sequencer.logLength.sizeBytes,
      isCrowded: this.#deps.duckDb.tableMemory.isCrowded,
    });
  }

  get #mustStop(): boolean {
    return this.#deps.clock.monotonicMs() >= this.#stopAtMs;
  }
}
