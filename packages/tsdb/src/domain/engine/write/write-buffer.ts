import { type Clock, type CommitLog, DiskFull, type LogStart, logError } from '@plinth/kernel';
import { type TsdbError, tsdbError } from '../../../errors.js';
import type { RowBatch } from '../../../model/columns/row-batch.js';
import { encodeWriteRecord, type PackedDefinitions } from '../../../storage/wal/write-record.js';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';
import { LogSeries } from './log-series.js';
import { LONGEST_WAIT_MS, RoomWaits } from './room-waits.js';

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

/** The log rejects everything from then on, and the write of the rows reports it. */
function ignoreUnsynced(): void {}

/**
 * Bodies that wait for room may use this fraction of the hard limit: other bodies need memory, too.
 */
const WAITING_SHARE = 1 / 2;

/** A generation that takes no more writes; its records are in log files up to `file`. */
export interface ClosedGeneration {
  readonly number: number;
  readonly file: number;
  /**
   * Files up to this one contain nothing else. Lower than `file` if rows of some tables were left
   * to the next generation.
   */
  readonly lastFreeFile: number;
  /** Newest log file at that time. */
  readonly newestFile: number;
  readonly sizeBytes: number;
}

/**
 * Writes accepted rows to the log and, in the same order, to the current generation. It counts the
 * bytes that are not in segments yet. Above the hard limit, writes wait for a flush, and are
 * rejected if that takes too long.
 */
export class WriteBuffer {
  readonly #log: CommitLog;
  readonly #clock: Clock;
  readonly #hardLimitBytes: number;
  readonly #waits: RoomWaits;
  /**
   * Bytes of bodies that are not buffered yet: concurrent bodies must not exceed the limit
   * together.
   */
  #underwayBytes = 0;
  readonly #onHidden: ((tableIds: readonly number[]) => void) | undefined;
  /** Tables whose rejected rows were hidden in this tick. */
  readonly #hidden = new Set<number>();
  readonly #logSeries = new Map<number, LogSeries>();
  /**
   * True if nothing was defined since the last reset: a failed batch reports each waiting record.
   */
  #hasForgotten = true;
  #generation = 0;
  /** First log file of each generation; earlier files contain none of its rows. */
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
    /** Called when rows of these tables that observers have seen were rejected. */
    readonly onHidden?: (tableIds: readonly number[]) => void;
  }) {
    this.#log = options.log;
    this.#onHidden = options.onHidden;
    this.#clock = options.clock;
    this.#hardLimitBytes = options.hardLimitBytes;
    this.#waits = new RoomWaits(options.clock, options.hardLimitBytes * WAITING_SHARE);
    this.#firstFiles.set(this.#generation, options.log.firstFile);
    this.#generationStartMs = options.clock.monotonicMs();
    this.#lastWriteMs = this.#generationStartMs;
  }

  /** Number of the generation that takes the writes. */
  get generation(): number {
    return this.#generation;
  }

  get generationBytes(): number {
    return this.#generationBytes;
  }

  get sizeBytes(): number {
    return this.#generationBytes + this.#closedBytes;
  }

  /** Milliseconds since the first row of the current generation; 0 if it has none. */
  get generationAgeMs(): number {
    return this.#generationBytes === 0 ? 0 : this.#clock.monotonicMs() - this.#generationStartMs;
  }

  /** Milliseconds since the last write. */
  get idleMs(): number {
    return this.#clock.monotonicMs() - this.#lastWriteMs;
  }

  get isReadOnly(): boolean {
    return this.#log.isReadOnly;
  }

  /** Why no write of any size can be accepted now; `undefined` if writes are accepted. */
  get obstacle(): TsdbError<'node_read_only'> | DiskFull | undefined {
    if (this.#log.isReadOnly) return tsdbError('node_read_only');
    return this.#log.fullBy;
  }

  /** Retries after the disk was full. Cheap. */
  tryAgain(): void {
    this.#log.tryAgain();
  }

  /**
   * Reserves room for a body; `undefined` if it succeeded immediately. Otherwise waits a limited
   * time for a flush. Throws `buffer_full`, `DiskFull` or `node_read_only` if it does not get room.
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

  /** Adds to a body's reservation; `enter(0)` waits until all reservations fit. */
  grow(sizeBytes: number): void {
    this.#underwayBytes += sizeBytes;
  }

  /** Called when the rows of a body are in the buffer or rejected. */
  leave(sizeBytes: number): void {
    this.#underwayBytes -= sizeBytes;
    this.#waits.wake(); // a rejected body frees its room
  }

  #hasRoom(sizeBytes: number): boolean {
    const { obstacle } = this;
    if (obstacle !== undefined) throw obstacle;
    return this.sizeBytes + this.#underwayBytes + sizeBytes <= this.#hardLimitBytes;
  }

  /**
   * Logs and buffers rows in one step without an await, so log order is buffer order.
   * `batch.series` contains the dense numbers of the table's index. The rows are visible to queries
   * on return. The promise resolves when they are durable. If it rejects because the disk is full,
   * they are hidden again.
   */
  append(batches: readonly BatchForTable[]): Promise<void> {
    const seq = this.nextSeq();
    const defined = batches.map(({ store, batch }) => ({
      store,
      batch,
      newSeries: this.#define(store, batch.series),
    }));
    // Rejected rows are hidden, and are written to no segment.
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

  /** Many writes are rejected together, so observers are notified once. */
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

  /** Number of rows whose series the record would have to define. */
  countUndefined(store: TableStore, series: Uint32Array): number {
    return this.#logSeriesOf(store.tableId).countUndefined(this.#log.tailFile, series);
  }

  /**
   * Defines series in the log before their rows; the record of the rows may still have to define
   * them again.
   */
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

  /** Some definitions did not reach the log, so the next records must repeat them. */
  #forgetDefinitions(): void {
    if (this.#hasForgotten) return;
    this.#hasForgotten = true;
    for (const series of this.#logSeries.values()) series.forget();
  }

  /** Buffers rows that are already in the log, at startup. */
  restore(batches: readonly BatchForTable[], seq: bigint): void {
    if (seq > this.#lastSeq) this.#lastSeq = seq;
    this.#put(batches, seq);
  }

  /** Ensures that later writes have a greater `seq`. */
  noteSeq(seq: bigint): void {
    if (seq > this.#lastSeq) this.#lastSeq = seq;
  }

  /**
   * Later writes go to the next generation and the next log file. So do the rows of `kept`, whose
   * records stay in their files.
   */
  async closeGeneration(kept: readonly GenerationTable[]): Promise<ClosedGeneration> {
    const number = this.#generation;
    const keptBytes = kept.reduce((sum, table) => sum + table.sizeBytes, 0);
    const sizeBytes = this.#generationBytes - keptBytes;
    // takes effect immediately: later appends go to the next file
    const rotated = this.#log.rotate();
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
   * Like `closeGeneration`, during replay. Covers the rows read so far, which may include later
   * files; all records up to `file` were read. The log stays unchanged.
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

  /** Called when the rows of a closed generation are in segments. */
  async forget(closed: ClosedGeneration): Promise<void> {
    this.#closedBytes -= closed.sizeBytes;
    this.#waits.wake();
    await this.#log.seal(closed.lastFreeFile);
  }

  /** Size of the log that the next start has to read. */
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

  /** Called when the table's rows are permanently removed. */
  forgetTable(tableId: number): void {
    this.#logSeries.delete(tableId);
  }

  /** Hybrid clock: the wall clock if it has advanced, otherwise the previous value plus one. */
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
