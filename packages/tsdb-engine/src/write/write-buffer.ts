import { type Clock, type CommitLog, DiskFull, type LogStart, logError } from '@plinth/kernel';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import {
  encodeWriteRecord,
  type PackedDefinitions,
} from '@plinth/tsdb-storage/wal/write-record.js';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';
import { LogSeries } from './log-series.js';
import { LONGEST_WAIT_MS, MemoryWaitQueue } from './memory-wait-queue.js';

export interface BatchForTable {
  readonly store: TableStore;
  readonly batch: RowBatch;
}

interface DefinedBatch extends BatchForTable {
  readonly newSeries: PackedDefinitions;
}

const NO_ROWS: RowBatch = {
  rowCount: 0,
  series: new Uint32Array(0),
  times: new BigInt64Array(0),
  fields: [],
};

/** A failed sync makes the log read-only; the write of the rows reports that. */
function ignoreUnsynced(): void {}

/** Bodies that wait for room take so much of the hard limit again at most: others need memory for bodies, too. */
const WAITING_SHARE = 1 / 2;

/** A generation that takes no more writes; its records are in log files up to `file`. */
export interface ClosedGeneration {
  readonly number: number;
  readonly file: number;
  /** Up to this one, files hold nothing else: fewer than `file` where rows of tables were left to the next generation. */
  readonly lastFreeFile: number;
  /** Behind those. */
  readonly firstNeeded: LogStart;
  /** Of the log at that time. */
  readonly newestFile: number;
  readonly sizeBytes: number;
}

/**
 * Where accepted rows go: into the log and, in the same order, into the current generation. Counts what is not in
 * segments yet: beyond the hard limit writes wait for a flush, and are refused when that takes too long.
 */
export class WriteBuffer {
  readonly #log: CommitLog;
  readonly #clock: Clock;
  readonly #hardLimitBytes: number;
  readonly #waits: MemoryWaitQueue;
  /** Size of bodies that have not reached the buffer yet: together they must not exceed its limit. */
  #underwayBytes = 0;
  readonly #onHidden: ((tableIds: readonly number[]) => void) | undefined;
  /** Tables of which refused rows have been hidden in this turn. */
  readonly #hidden = new Set<number>();
  readonly #logSeries = new Map<number, LogSeries>();
  /** Whether no series was defined since the last call of `#forgetDefinitions`, which every waiting record of a failed batch makes. */
  #hasForgotten = true;
  #generation = 0;
  /** Of the log, by generation: those before it hold nothing of it. */
  readonly #firstFiles = new Map<number, number>();
  #generationBytes = 0;
  #generationStartMs: number;
  #lastWriteMs: number;
  #closedBytes = 0;
  #lastSeq = 0n;

  constructor(options: {
    readonly log: CommitLog;
    readonly clock: Clock;
    readonly hardLimitBytes: number;
    /** Rows of these tables, which observers already received, were refused. */
    readonly onHidden?: (tableIds: readonly number[]) => void;
  }) {
    this.#log = options.log;
    this.#onHidden = options.onHidden;
    this.#clock = options.clock;
    this.#hardLimitBytes = options.hardLimitBytes;
    this.#waits = new MemoryWaitQueue(options.clock, options.hardLimitBytes * WAITING_SHARE);
    this.#firstFiles.set(this.#generation, options.log.firstFile);
    this.#generationStartMs = options.clock.monotonicMs();
    this.#lastWriteMs = this.#generationStartMs;
  }

  /** Number of the one that takes the writes. */
  get generation(): number {
    return this.#generation;
  }

  get generationBytes(): number {
    return this.#generationBytes;
  }

  get sizeBytes(): number {
    return this.#generationBytes + this.#closedBytes;
  }

  /** Since the first row of the current generation; 0 when it has none. */
  get generationAgeMs(): number {
    return this.#generationBytes === 0 ? 0 : this.#clock.monotonicMs() - this.#generationStartMs;
  }

  /** Since the last write. */
  get idleMs(): number {
    return this.#clock.monotonicMs() - this.#lastWriteMs;
  }

  get isReadOnly(): boolean {
    return this.#log.isReadOnly;
  }

  /** Why writes of any size are refused at the moment; `undefined` while they are accepted. */
  get obstacle(): TsdbError<'node_read_only'> | DiskFull | undefined {
    if (this.#log.isReadOnly) return tsdbError('node_read_only');
    return this.#log.fullBy;
  }

  /** Looks for room where the disk was full. Cheap. */
  tryAgain(): void {
    this.#log.tryAgain();
  }

  /**
   * Takes room for a body; `undefined`: at once. Otherwise waits for a flush to make some, for a while. Throws `buffer_full`,
   * `DiskFull` or `node_read_only` when there is none.
   */
  enter(sizeBytes: number): Promise<void> | undefined {
    if (!this.#hasRoom(sizeBytes)) return this.#enterLater(sizeBytes);
    this.#underwayBytes += sizeBytes;
    return undefined;
  }

  async #enterLater(sizeBytes: number): Promise<void> {
    const latestMs = this.#clock.monotonicMs() + LONGEST_WAIT_MS;
    while (!this.#hasRoom(sizeBytes)) await this.#waits.next(sizeBytes, latestMs);
    this.#underwayBytes += sizeBytes;
  }

  /** A body turns out to take more; `enter` with nothing waits until all that are underway have room. */
  grow(sizeBytes: number): void {
    this.#underwayBytes += sizeBytes;
  }

  /** The rows of a body are in the buffer, or refused. */
  leave(sizeBytes: number): void {
    this.#underwayBytes -= sizeBytes;
    this.#waits.wake(); // A body that was refused leaves room.
  }

  #hasRoom(sizeBytes: number): boolean {
    const { obstacle } = this;
    if (obstacle !== undefined) throw obstacle;
    return this.sizeBytes + this.#underwayBytes + sizeBytes <= this.#hardLimitBytes;
  }

  /**
   * Logs and buffers rows synchronously: log order is buffer order. `batch.series` contains the dense
   * numbers of the table's index. Queries see the rows when the call returns. The promise resolves when the rows are durable.
   * The rows disappear again when it rejects because the disk is full.
   */
  append(batches: readonly BatchForTable[]): Promise<void> {
    const seq = this.nextSeq();
    const defined = batches.map(({ store, batch }) => ({
      store,
      batch,
      newSeries: this.#define(store, batch.series),
    }));
    // What is refused is not seen either, and goes into no segment.
    const durable = this.#logRecord(seq, defined, (cause) => {
      hide(batches, seq, cause);
      this.#reportHidden(batches);
    });
    for (const { store, batch } of batches) {
      this.#logSeriesOf(store.tableId).noteRows(batch.rowCount);
    }
    this.#put(batches, seq);
    return durable;
  }

  /** Many writes are refused at once: who keeps something of the rows hears of it once. */
  #reportHidden(batches: readonly BatchForTable[]): void {
    if (this.#hidden.size === 0) {
      setImmediate(() => {
        const tableIds = [...this.#hidden];
        this.#hidden.clear();
        this.#onHidden?.(tableIds);
      });
    }
    for (const { store } of batches) this.#hidden.add(store.tableId);
  }

  /** How many of the rows are of series that their record would have to define. */
  countUndefined(store: TableStore, series: Uint32Array): number {
    return this.#logSeriesOf(store.tableId).countUndefined(this.#log.tailFile, series);
  }

  /** Defines series in the log ahead of their rows, whose record may still have to define them again. */
  define(store: TableStore, series: Uint32Array): void {
    const newSeries = this.#define(store, series);
    if (newSeries.count === 0) return;
    this.#logRecord(this.nextSeq(), [{ store, newSeries, batch: NO_ROWS }]).catch(ignoreUnsynced);
  }

  #define(store: TableStore, series: Uint32Array): PackedDefinitions {
    this.#hasForgotten = false;
    const { tailFile } = this.#log;
    return this.#logSeriesOf(store.tableId).define(tailFile, series, store.series.index);
  }

  #logRecord(
    seq: bigint,
    tables: readonly DefinedBatch[],
    onFull: (cause: DiskFull) => void = () => {},
  ): Promise<void> {
    try {
      const record = {
        seq,
        tables: tables.map(({ store, newSeries, batch }) => ({
          tableId: store.tableId,
          newSeries,
          batch,
        })),
      };
      const { durable } = this.#log.append(encodeWriteRecord(record));
      durable.catch((cause: unknown) => {
        this.#forgetDefinitions();
        if (cause instanceof DiskFull) onFull(cause);
      });
      return durable;
    } catch (error) {
      for (const { store } of tables) this.#logSeriesOf(store.tableId).forget();
      if (logError.is(error, 'log_overloaded'))
        throw tsdbError('buffer_full', { retryAfterSec: 1 });
      if (logError.is(error, 'log_read_only')) throw tsdbError('node_read_only', undefined, error);
      throw error;
    }
  }

  /** Some did not reach the log: the next records have to carry them. */
  #forgetDefinitions(): void {
    if (this.#hasForgotten) return;
    this.#hasForgotten = true;
    for (const series of this.#logSeries.values()) series.forget();
  }

  /** Rows that are in the log already: at the start of the node. */
  restore(batches: readonly BatchForTable[], seq: bigint): void {
    if (seq > this.#lastSeq) this.#lastSeq = seq;
    this.#put(batches, seq);
  }

  /** Later writes have a greater `seq` than this. */
  noteSeq(seq: bigint): void {
    if (seq > this.#lastSeq) this.#lastSeq = seq;
  }

  /** Later writes belong to the next generation and the next log file, and so do the rows of `kept`, which stay in their files. */
  async closeGeneration(kept: readonly GenerationTable[]): Promise<ClosedGeneration> {
    const number = this.#generation;
    const keptBytes = kept.reduce((sum, table) => sum + table.sizeBytes, 0);
    const sizeBytes = this.#generationBytes - keptBytes;
    const rotated = this.#log.rotate(); // Takes effect at once: appends after this call go to the next file.
    const next = ++this.#generation;
    for (const table of kept) table.generation = next;
    this.#generationBytes = keptBytes;
    this.#generationStartMs = this.#clock.monotonicMs();
    this.#closedBytes += sizeBytes;
    const file = await rotated;
    this.#firstFiles.set(next, file + 1);
    const oldest = kept.reduce((min, table) => Math.min(min, table.firstGeneration), next);
    for (const each of this.#firstFiles.keys()) if (each < oldest) this.#firstFiles.delete(each);
    const lastFreeFile = (this.#firstFiles.get(oldest) ?? 0) - 1;
    const firstNeeded = this.#log.startAfter(lastFreeFile);
    const { newestFile } = this.#log;
    return { number, sizeBytes, file, lastFreeFile, firstNeeded, newestFile };
  }

  /**
   * As `closeGeneration` while a start reads the log: the rows so far, which may be of later files than `file` as well, but all
   * records up to that one were read. The log stays as it is.
   */
  closeReplayed(file: number): ClosedGeneration {
    const number = this.#generation;
    const sizeBytes = this.#generationBytes;
    this.#generation += 1;
    this.#generationBytes = 0;
    this.#closedBytes += sizeBytes;
    this.#firstFiles.clear();
    this.#firstFiles.set(this.#generation, file + 1);
    const firstNeeded = this.#log.startAfter(file);
    const { newestFile } = this.#log;
    return { number, sizeBytes, file, lastFreeFile: file, firstNeeded, newestFile };
  }

  /** The rows of a closed generation are in segments. */
  async forget(closed: ClosedGeneration): Promise<void> {
    this.#closedBytes -= closed.sizeBytes;
    this.#waits.wake();
    await this.#log.seal(closed.lastFreeFile);
  }

  /** What a start would have to read. */
  get logLength(): { readonly sizeBytes: number; readonly fileCount: number } {
    const { sizeBytes, firstFile, newestFile } = this.#log;
    return { sizeBytes, fileCount: newestFile - firstFile + 1 };
  }

  #put(batches: readonly BatchForTable[], seq: bigint): void {
    this.#lastWriteMs = this.#clock.monotonicMs();
    if (this.#generationBytes === 0) this.#generationStartMs = this.#lastWriteMs;
    for (const { store, batch } of batches) {
      this.#generationBytes += store.append(this.#generation, batch, seq);
    }
  }

  #logSeriesOf(tableId: number): LogSeries {
    let series = this.#logSeries.get(tableId);
    if (series === undefined) {
      series = new LogSeries();
      this.#logSeries.set(tableId, series);
    }
    return series;
  }

  /** Its rows are gone for good. */
  forgetTable(tableId: number): void {
    this.#logSeries.delete(tableId);
  }

  /** Hybrid clock: the wall clock where it moved on, otherwise one more than before. */
  nextSeq(): bigint {
    const now = this.#clock.nowNs();
    this.#lastSeq = now > this.#lastSeq ? now : this.#lastSeq + 1n;
    return this.#lastSeq;
  }
}

function hide(batches: readonly BatchForTable[], seq: bigint, cause: DiskFull): void {
  for (const { store, batch } of batches) {
    let minTimeNs = batch.times[0] as bigint; // no batch is empty
    let maxTimeNs = minTimeNs;
    for (const time of batch.times) {
      if (time < minTimeNs) minTimeNs = time;
      if (time > maxTimeNs) maxTimeNs = time;
    }
    store.tombstones.hide({ tableId: store.tableId, seq, minTimeNs, maxTimeNs }, cause);
  }
}
