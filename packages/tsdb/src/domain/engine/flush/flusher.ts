import type { Clock, Leases } from '@plinth/kernel';
import type { GenerationTable } from '../table/generation-table.js';
import type { ClosedGeneration, WriteBuffer } from '../write/write-buffer.js';
import { FlushFailures } from './flush-failures.js';
import { FlushGroups, type FlushGroupsDeps } from './flush-groups.js';
import { hasManySeries, tablesToKeep } from './kept-tables.js';
import { WorkProgress, type WorkState } from './work-progress.js';

export interface FlushSettings {
  /** A generation of this size is flushed. */
  readonly flushBytes: number;
  /** A generation is flushed when its first row is this old. */
  readonly flushAgeMs: number;
  /** So many tables at most are written and registered together. */
  readonly maxGroupTables: number;
  /** So many small tables are flushed at a time: see `tablesToKeep`. */
  readonly maxSmallTables: number;
}

/**
 * A generation of some size is flushed as soon as nobody writes: segments are sorted by series, so that queries that want
 * few of them read little, and the work is done while nobody waits for it.
 */
const IDLE_FLUSH_BYTES = 128 * 1024 * 1024;
const IDLE_FLUSH_MS = 1000;

/** Waits after a failed flush, doubled up to the longest. */
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
const CHECK_INTERVAL_MS = 1000;

/** An end leaves so much of the log to the next start, which reads it in a few tenths of a second. */
const MAX_LEFT_BYTES = 8 * 1024 * 1024;
/** Each start begins a file: many of them are read slowly, however short. */
const MAX_LEFT_FILES = 32;
/** Otherwise it does not wait longer for files, as far as they are not begun. */
const LONGEST_END_MS = 3000;
/** Rows that queries have brought into the engine are flushed when they leave it little memory, but not every second. */
const CROWDED_FLUSH_AGE_MS = 10_000;

/** All tables, or those that `tablesToKeep` does not leave to a later flush. */
export type FlushedTables = 'all' | 'worthwhile';

/** The rows stay in the log, and whoever holds the lease is at work on it. */
class FlushHeldElsewhere extends Error {
  override readonly name = 'FlushHeldElsewhere';
}

/** The node ends: the rows stay in the log, where the next start finds them. */
class FlushLeft extends Error {
  override readonly name = 'FlushLeft';
}

export interface FlusherDeps
  extends Omit<FlushGroupsDeps, 'maxGroupTables' | 'isLate' | 'onProgress'> {
  readonly buffer: WriteBuffer;
  /** On the disk; false: what is left is for deletions. */
  readonly hasRoomFor: (sizeBytes: number) => boolean;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly settings: FlushSettings;
  readonly onFailed: (error: unknown, retryMs: number) => void;
  readonly onFlushed: (durationMs: number) => void;
  /** The node ends before all rows are in files. */
  readonly onLeft: () => void;
}

/** Moves generations into segments, one at a time: by size, by age, when nobody writes, and at the end of the node's life. */
export class Flusher {
  readonly #needs: FlusherDeps;
  readonly #buffer: WriteBuffer;
  readonly #groups: FlushGroups;
  readonly #progress: WorkProgress;
  #closed: ClosedGeneration | undefined;
  #running: Promise<void> | undefined;
  #ticker: Disposable | undefined;
  readonly #failures = new FlushFailures();
  #retryMs = FIRST_RETRY_MS;
  #notBeforeMs = 0;
  #isAsked = false;
  /** Of the log: some of its rows are in segments, and it is read again at the next start. */
  #aheadFile: number | undefined;
  /** Set when the node ends. */
  #latestMs = Number.POSITIVE_INFINITY;

  constructor(needs: FlusherDeps) {
    this.#needs = needs;
    this.#buffer = needs.buffer;
    const { maxGroupTables } = needs.settings;
    this.#progress = new WorkProgress(needs.clock);
    this.#groups = new FlushGroups({
      ...needs,
      maxGroupTables,
      isLate: () => this.#isLate,
      onProgress: (tableCount, doneCount) => this.#progress.note(tableCount, doneCount),
    });
  }

  start(): void {
    this.#ticker ??= this.#needs.clock.every(CHECK_INTERVAL_MS, () => {
      this.#buffer.tryAgain();
      this.flushWhenDue();
    });
  }

  /** Why rows stay in memory and in the log; `undefined` unless flushes have failed for minutes. */
  get obstacle(): string | undefined {
    return this.#failures.obstacle(this.#needs.clock.monotonicMs());
  }

  get state(): WorkState {
    return this.#progress.state;
  }

  /** A flush is under way, or begins when nobody writes. */
  get isNear(): boolean {
    return (
      this.#running !== undefined ||
      this.#closed !== undefined ||
      this.#buffer.generationBytes >= IDLE_FLUSH_BYTES
    );
  }

  /** Cheap: called after writes. Starts a flush in the background when size or age ask for one. */
  flushWhenDue(): void {
    if (this.#running !== undefined || this.#buffer.isReadOnly) return;
    const { flushBytes, flushAgeMs } = this.#needs.settings;
    const isDue =
      this.#closed !== undefined ||
      (this.#isAsked && this.#buffer.generationBytes > 0) ||
      this.#buffer.generationBytes >= flushBytes ||
      this.#buffer.generationAgeMs >= flushAgeMs ||
      (this.#needs.host.tableMemory.isCrowded &&
        this.#buffer.generationAgeMs >= CROWDED_FLUSH_AGE_MS) ||
      (this.#buffer.generationBytes >= IDLE_FLUSH_BYTES && this.#buffer.idleMs >= IDLE_FLUSH_MS);
    if (!isDue || this.#needs.clock.monotonicMs() < this.#notBeforeMs) return;
    // Rows of deleted tables leave the log by a flush, which may free more than it takes.
    if (!this.#isAsked && !this.#needs.hasRoomFor(this.#buffer.sizeBytes)) return;
    const what = this.#isAsked ? 'all' : 'worthwhile';
    if (this.#closed === undefined) this.#isAsked = false;
    this.#running = this.#flushOnce(what)
      .then(() => {
        this.#retryMs = FIRST_RETRY_MS;
        this.#failures.ended();
      })
      .catch((error: unknown) => {
        if (error instanceof FlushLeft) return;
        this.#notBeforeMs = this.#needs.clock.monotonicMs() + this.#retryMs;
        this.#failures.failed(error, this.#needs.clock.monotonicMs());
        this.#needs.onFailed(error, this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Starts a flush in the background, whatever size and age say, when the one that may be running has ended. */
  flushSoon(): void {
    this.#isAsked = true;
    this.flushWhenDue();
  }

  /** The same of what is there now, for somebody who waits: also right behind a flush that failed. */
  flushNow(): void {
    this.#notBeforeMs = 0;
    if (this.#buffer.generationBytes > 0) this.#isAsked = true;
    this.flushWhenDue();
  }

  /** Flushes what was written before the call. Throws when it cannot. */
  async flush(what: FlushedTables): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    const flushing = this.#flushRest(what);
    const running = flushing.catch(() => undefined); // The caller sees the failure.
    this.#running = running;
    try {
      await flushing;
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }

  /**
   * Flushes what a start has read of the log so far, all records of files up to `file` and some of the next. Those are read
   * again at the next start unless a flush of all rows follows, so until then nothing may be forgotten that hides some of them.
   */
  async flushReplayed(file: number): Promise<void> {
    this.#closed ??= this.#buffer.closeReplayed(file);
    this.#aheadFile = file + 1;
    if (!(await this.#flushOnce('all'))) throw new FlushHeldElsewhere();
  }

  /** After the last record was read: flushes the rest where `flushReplayed` was called. */
  async endReplay(): Promise<void> {
    if (this.#closed !== undefined && !(await this.#flushOnce('all')))
      throw new FlushHeldElsewhere();
    if (this.hasRowsAhead && !(await this.#flushOnce('all'))) throw new FlushHeldElsewhere();
  }

  /** Segments have rows that the next start would read from the log as well. */
  get hasRowsAhead(): boolean {
    return this.#aheadFile !== undefined;
  }

  /** After `close`: flushes so much that the next start has little to replay, unless that takes too long. */
  async flushLast(): Promise<void> {
    try {
      if (!this.#isStartShort) await this.#flushRest('worthwhile');
    } catch (error) {
      // A flush that fails here loses nothing: the log still has the rows.
      if (!(error instanceof FlushLeft)) this.#needs.onFailed(error, 0);
    }
    if (this.#buffer.sizeBytes > 0) this.#needs.onLeft();
  }

  /** The next one, when it finds all rows in the log. */
  get #isStartShort(): boolean {
    const { sizeBytes, fileCount } = this.#buffer.logLength;
    if (sizeBytes > MAX_LEFT_BYTES || fileCount > MAX_LEFT_FILES) return false;
    for (const store of this.#needs.tables())
      if (store.minBufferedSeq !== undefined && hasManySeries(store)) return false;
    return true;
  }

  /** At most a generation that could not be flushed before, and the current one. */
  async #flushRest(what: FlushedTables): Promise<void> {
    if (this.#closed !== undefined && !(await this.#flushOnce(what)))
      throw new FlushHeldElsewhere();
    if (this.#buffer.generationBytes > 0 && !(await this.#flushOnce(what)))
      throw new FlushHeldElsewhere();
  }

  /** Begins no other flush but the last one. Resolves when the one that may be running has ended. */
  async close(): Promise<void> {
    this.#latestMs = this.#needs.clock.monotonicMs() + (this.#isStartShort ? 0 : LONGEST_END_MS);
    this.#ticker?.[Symbol.dispose]();
    this.#ticker = undefined;
    await this.#running;
  }

  /** False: another node is at it. */
  async #flushOnce(what: FlushedTables): Promise<boolean> {
    return await this.#progress.of(() => this.#flushClosed(what));
  }

  async #flushClosed(what: FlushedTables): Promise<boolean> {
    const keepsNone = what === 'all' || this.hasRowsAhead;
    this.#closed ??= await this.#buffer.closeGeneration(keepsNone ? [] : this.#toKeep());
    const closed = this.#closed;
    const isFlushed = await this.#needs.leases.withLease('tsdb.flush', async () => {
      const startMs = this.#needs.clock.monotonicMs();
      if (!(await this.#groups.write(closed))) throw new FlushLeft();
      this.#needs.onFlushed(this.#needs.clock.monotonicMs() - startMs);
      return true;
    });
    if (isFlushed !== true) return false;
    this.#closed = undefined;
    if (closed.lastFreeFile >= (this.#aheadFile ?? 0)) this.#aheadFile = undefined;
    // Log files that stay go with the next ones, or at the next start, which knows that they are in segments.
    await this.#buffer.forget(closed).catch(this.#needs.onError);
    return true;
  }

  #toKeep(): readonly GenerationTable[] {
    return tablesToKeep({
      stores: this.#needs.tables(),
      generation: this.#buffer.generation,
      ...this.#needs.settings,
      logBytes: this.#buffer.logLength.sizeBytes,
      isCrowded: this.#needs.host.tableMemory.isCrowded,
    });
  }

  get #isLate(): boolean {
    return this.#needs.clock.monotonicMs() >= this.#latestMs;
  }
}
