import { type Clock, type CommitLog, DiskFull, logError, type RecordRef } from '@plinth/kernel';
import type { RowBatch } from '@plinth/tsdb-model/columns/row-batch.js';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import {
  encodeWriteRecord,
  type PackedDefinitions,
} from '@plinth/tsdb-storage/wal/write-record.js';
import type { GenerationTable } from '../table/generation-table.js';
import type { TableStore } from '../table/table-store.js';
import { LONGEST_WAIT_MS, MemoryWaitQueue } from './memory-wait-queue.js';
import { WalSeriesDictionary } from './wal-series-dictionary.js';

export interface TableBatch {
  readonly store: TableStore;
  readonly batch: RowBatch;
}

/**
 * Notified of the rows of each log record when they are durable, in log order. Live queries use it;
 * triggers use `CommitListener`.
 */
export interface RecordListener {
  /** Called for every write when its record is queued. If it returns false, the rows of the table are not reported. */
  wants(tableId: number): boolean;
  /**
   * Called within the write, so it must not do more than select and copy rows: the memory of the
   * batches is reused afterwards.
   */
  recordDurable(seq: bigint, batches: readonly TableBatch[]): void;
}

interface DefinedBatch extends TableBatch {
  readonly seriesDefinitions: PackedDefinitions;
}

const NO_ROWS: RowBatch = {
  rowCount: 0,
  seriesOrdinals: new Uint32Array(0),
  times: new BigInt64Array(0),
  fields: [],
};

/** A failed sync makes the log read-only. The write of the rows reports this. */
export function ignoreUnsynced(): void {}

/**
 * Maximum size of bodies that wait for memory, as a fraction of the hard limit. Other parts of the
 * server also need memory for bodies.
 */
const WAITING_SHARE = 1 / 2;

/**
 * A generation (the unflushed rows that one flush writes to segments) that accepts no more writes. Its records are in
 * log files up to `file`.
 */
export interface ClosedGeneration {
  readonly number: number;
  readonly file: number;
  /**
   * Files up to this number contain only rows of this generation. Less than `file` if rows of some tables were left
   * to the next generation.
   */
  readonly lastRemovableFile: number;
  /** The first record after those files. */
  readonly replayStart: RecordRef;
  /** Newest file of the log at the time of closing. */
  readonly newestFile: number;
  readonly sizeBytes: number;
}

/**
 * Numbers accepted writes, and stores their rows in the log and, in the same order, in the current generation. Counts
 * the bytes of rows that are not in segments yet. Above the hard limit, writes wait for a flush, and are refused if the
 * flush takes too long.
 */
export class WriteSequencer {
  readonly #log: CommitLog;
  readonly #clock: Clock;
  readonly #hardLimitBytes: number;
  readonly #waits: MemoryWaitQueue;
  /** Total size of bodies that have not reached the buffer yet, which must not exceed the limit of the buffer. */
  #reservedBytes = 0;
  readonly #onRowsRefused: ((tableIds: readonly number[]) => void) | undefined;
  /** Tables whose refused rows were hidden in this event-loop tick. */
  readonly #refusedTables = new Set<number>();
  readonly #dictionaries = new Map<number, WalSeriesDictionary>();
  /**
   * True if no series was defined since the last call of `#forgetDefinitions`, which each waiting record of a failed
   * batch calls.
   */
  #hasForgotten = true;
  #generation = 0;
  /** First log file of each generation; earlier files contain no rows of the generation. */
  readonly #firstFiles = new Map<number, number>();
  #generationBytes = 0;
  #generationStartMs: number;
  #lastWriteMs: number;
  #closedBytes = 0;
  #lastSeq = 0n;
  readonly #listener: RecordListener | undefined;
  /** Settles when the newest record is durable or refused, and thus all before it. */
  #newest: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly log: CommitLog;
    readonly clock: Clock;
    readonly hardLimitBytes: number;
    /** Called when rows of these tables were refused after observers had already received them. */
    readonly onRowsRefused?: (tableIds: readonly number[]) => void;
    readonly listener?: RecordListener | undefined;
  }) {
    this.#log = options.log;
    this.#onRowsRefused = options.onRowsRefused;
    this.#listener = options.listener;
    this.#clock = options.clock;
    this.#hardLimitBytes = options.hardLimitBytes;
    this.#waits = new MemoryWaitQueue(options.clock, options.hardLimitBytes * WAITING_SHARE);
    this.#firstFiles.set(this.#generation, options.log.firstFile);
    this.#generationStartMs = options.clock.monotonicMs();
    this.#lastWriteMs = this.#generationStartMs;
  }

  /** Number of the current generation, which receives the writes. */
  get generation(): number {
    return this.#generation;
  }

  get generationBytes(): number {
    return this.#generationBytes;
  }

  get sizeBytes(): number {
    return this.#generationBytes + this.#closedBytes;
  }

  /** True if log files contain only records whose rows are in segments or deleted. The next flush removes these files. */
  get hasObsoleteFiles(): boolean {
    return this.sizeBytes === 0 && this.#log.firstFile < this.#log.newestFile;
  }

  /** Time since the first row of the current generation; 0 without rows. */
  get generationAgeMs(): number {
    return this.#generationBytes === 0 ? 0 : this.#clock.monotonicMs() - this.#generationStartMs;
  }

  /** Time since the last write. */
  get idleMs(): number {
    return this.#clock.monotonicMs() - this.#lastWriteMs;
  }

  get isReadOnly(): boolean {
    return this.#log.isReadOnly;
  }

  /** The reason why all writes are currently refused; `undefined` while writes are accepted. */
  get obstacle(): TsdbError<'node_read_only'> | DiskFull | undefined {
    if (this.#log.isReadOnly) return tsdbError('node_read_only');
    return this.#log.diskFullError;
  }

  /** Checks for free space after the disk was full. Cheap. */
  recheckFreeSpace(): void {
    this.#log.recheckFreeSpace();
  }

  /**
   * Reserves memory for a body. Returns `undefined` if enough is free, otherwise a promise that
   * resolves when a flush has freed memory. Throws `buffer_full` after a timeout, `DiskFull` or
   * `node_read_only`.
   */
  reserve(sizeBytes: number): Promise<void> | undefined {
    if (!this.#hasRoom(sizeBytes)) return this.#reserveLater(sizeBytes);
    this.#reservedBytes += sizeBytes;
    return undefined;
  }

  /** Waits until all reservations fit; `undefined` if they already do. Throws like `reserve`. */
  waitForRoom(): Promise<void> | undefined {
    return this.reserve(0);
  }

  async #reserveLater(sizeBytes: number): Promise<void> {
    const latestMs = this.#clock.monotonicMs() + LONGEST_WAIT_MS;
    while (!this.#hasRoom(sizeBytes)) await this.#waits.next(sizeBytes, latestMs);
    this.#reservedBytes += sizeBytes;
  }

  /** Reserves more memory for a body that is larger than expected, even if memory is full. */
  growReservation(sizeBytes: number): void {
    this.#reservedBytes += sizeBytes;
  }

  /** Releases the reservation when the rows of a body are in their tables or were refused. */
  release(sizeBytes: number): void {
    this.#reservedBytes -= sizeBytes;
    this.#waits.wake();
  }

  #hasRoom(sizeBytes: number): boolean {
    const { obstacle } = this;
    if (obstacle !== undefined) throw obstacle;
    return this.sizeBytes + this.#reservedBytes + sizeBytes <= this.#hardLimitBytes;
  }

  /**
   * Logs and buffers rows synchronously: log order is buffer order. `batch.seriesOrdinals` contains the
   * ordinals of the table's series index. Queries see the rows when the call returns. The promise resolves when the rows are durable.
   * If it rejects because the disk is full, a tombstone hides the rows.
   */
  append(batches: readonly TableBatch[]): Promise<void> {
    const seq = this.nextSeq();
    const defined = batches.map(({ store, batch }) => ({
      store,
      batch,
      seriesDefinitions: this.#define(store, batch.seriesOrdinals),
    }));
    // Refused rows are hidden from queries and excluded from segments.
    const durable = this.#logRecord(seq, defined, (cause) => {
      hideRefused(batches, seq, cause);
      this.#reportRefused(batches);
    });
    for (const { store, batch } of batches) {
      this.#dictionaryOf(store.tableId).countRows(batch.rowCount);
    }
    this.#put(batches, seq);
    this.#newest = durable;
    this.#notify(seq, batches, durable);
    return durable;
  }

  /** The log resolves its promises in the order of the records. */
  #notify(seq: bigint, batches: readonly TableBatch[], durable: Promise<void>): void {
    const listener = this.#listener;
    if (listener === undefined) return;
    const reported = batches.filter(({ store }) => listener.wants(store.tableId));
    if (reported.length > 0)
      durable.then(() => listener.recordDurable(seq, reported), ignoreUnsynced);
  }

  get lastSeq(): bigint {
    return this.#lastSeq;
  }

  /**
   * Resolves when every write up to now is durable or refused, after the listener was notified.
   */
  async whenSettled(): Promise<void> {
    await this.#newest.catch(ignoreUnsynced);
  }

  /** Many writes may be refused at the same time, so observers are notified once. */
  #reportRefused(batches: readonly TableBatch[]): void {
    if (this.#refusedTables.size === 0) {
      setImmediate(() => {
        const tableIds = [...this.#refusedTables];
        this.#refusedTables.clear();
        this.#onRowsRefused?.(tableIds);
      });
    }
    for (const { store } of batches) this.#refusedTables.add(store.tableId);
  }

  /** Returns the number of rows whose series would have to be defined by their record. */
  countUndefined(store: TableStore, series: Uint32Array): number {
    return this.#dictionaryOf(store.tableId).countUndefined(this.#log.tailFile, series);
  }

  /** Defines series in the log before their rows. The record of the rows may have to define them again. */
  define(store: TableStore, series: Uint32Array): void {
    const seriesDefinitions = this.#define(store, series);
    if (seriesDefinitions.count === 0) return;
    this.#logRecord(this.nextSeq(), [{ store, seriesDefinitions, batch: NO_ROWS }]).catch(
      ignoreUnsynced,
    );
  }

  #define(store: TableStore, series: Uint32Array): PackedDefinitions {
    this.#hasForgotten = false;
    const { tailFile } = this.#log;
    return this.#dictionaryOf(store.tableId).define(tailFile, series, store.series.index);
  }

  #logRecord(
    seq: bigint,
    tables: readonly DefinedBatch[],
    onFull: (cause: DiskFull) => void = () => {},
  ): Promise<void> {
    try {
      const record = {
        seq,
        tables: tables.map(({ store, seriesDefinitions, batch }) => ({
          tableId: store.tableId,
          seriesDefinitions,
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
      for (const { store } of tables) this.#dictionaryOf(store.tableId).reset();
      if (logError.is(error, 'log_overloaded'))
        throw tsdbError('buffer_full', { retryAfterSec: 1 });
      if (logError.is(error, 'log_read_only')) throw tsdbError('node_read_only', undefined, error);
      throw error;
    }
  }

  /** Some definitions did not reach the log, so the next records must contain them. */
  #forgetDefinitions(): void {
    if (this.#hasForgotten) return;
    this.#hasForgotten = true;
    for (const dictionary of this.#dictionaries.values()) dictionary.reset();
  }

  /** Buffers rows that are already in the log, during startup. */
  restore(batches: readonly TableBatch[], seq: bigint): void {
    if (seq > this.#lastSeq) this.#lastSeq = seq;
    this.#put(batches, seq);
  }

  /** Ensures that later writes have a greater `seq`. */
  advanceSeq(seq: bigint): void {
    if (seq > this.#lastSeq) this.#lastSeq = seq;
  }

  /**
   * Later writes belong to the next generation and the next log file. The rows of `keptTables` also
   * move to the next generation, but remain in their log files.
   * @param keepsAge whether the age of the next generation is that of the kept rows
   */
  async closeGeneration(
    keptTables: readonly GenerationTable[],
    keepsAge = false,
  ): Promise<ClosedGeneration> {
    const number = this.#generation;
    const keptBytes = keptTables.reduce((sum, table) => sum + table.sizeBytes, 0);
    const sizeBytes = this.#generationBytes - keptBytes;
    const rotated = this.#log.rotate(); // Takes effect immediately: appends after this call go to the next file.
    const next = ++this.#generation;
    for (const table of keptTables) table.generation = next;
    this.#generationBytes = keptBytes;
    if (!keepsAge) this.#generationStartMs = this.#clock.monotonicMs();
    this.#closedBytes += sizeBytes;
    const file = await rotated;
    this.#firstFiles.set(next, file + 1);
    const oldest = keptTables.reduce((min, table) => Math.min(min, table.firstGeneration), next);
    for (const each of this.#firstFiles.keys()) if (each < oldest) this.#firstFiles.delete(each);
    const lastRemovableFile = (this.#firstFiles.get(oldest) ?? 0) - 1;
    const replayStart = this.#log.firstRecordAfter(lastRemovableFile);
    const { newestFile } = this.#log;
    return { number, sizeBytes, file, lastRemovableFile, replayStart, newestFile };
  }

  /**
   * Like `closeGeneration`, but during replay: closes the rows read so far. All records of files up to `file` have
   * been read; some rows may belong to later files. The log does not change.
   */
  closeReplayed(file: number): ClosedGeneration {
    const number = this.#generation;
    const sizeBytes = this.#generationBytes;
    this.#generation += 1;
    this.#generationBytes = 0;
    this.#closedBytes += sizeBytes;
    this.#firstFiles.clear();
    this.#firstFiles.set(this.#generation, file + 1);
    const replayStart = this.#log.firstRecordAfter(file);
    const { newestFile } = this.#log;
    return { number, sizeBytes, file, lastRemovableFile: file, replayStart, newestFile };
  }

  /** Removes the log files of a closed generation whose rows are in segments. */
  async removeFlushed(closed: ClosedGeneration): Promise<void> {
    this.#closedBytes -= closed.sizeBytes;
    this.#waits.wake();
    await this.#log.removeThrough(closed.lastRemovableFile);
  }

  /** Size of the log that would have to be read at startup. */
  get logLength(): { readonly sizeBytes: number; readonly fileCount: number } {
    const { sizeBytes, firstFile, newestFile } = this.#log;
    return { sizeBytes, fileCount: newestFile - firstFile + 1 };
  }

  #put(batches: readonly TableBatch[], seq: bigint): void {
    this.#lastWriteMs = this.#clock.monotonicMs();
    if (this.#generationBytes === 0) this.#generationStartMs = this.#lastWriteMs;
    for (const { store, batch } of batches) {
      this.#generationBytes += store.append(this.#generation, batch, seq);
    }
  }

  #dictionaryOf(tableId: number): WalSeriesDictionary {
    let dictionary = this.#dictionaries.get(tableId);
    if (dictionary === undefined) {
      dictionary = new WalSeriesDictionary();
      this.#dictionaries.set(tableId, dictionary);
    }
    return dictionary;
  }

  /** Removes the state of a table whose rows were removed permanently. */
  forgetTable(tableId: number): void {
    this.#dictionaries.delete(tableId);
  }

  /** Nanoseconds since 1970, or the previous value plus one if the clock has not advanced. */
  nextSeq(): bigint {
    const now = this.#clock.nowNs();
    this.#lastSeq = now > this.#lastSeq ? now : this.#lastSeq + 1n;
    return this.#lastSeq;
  }
}

function hideRefused(batches: readonly TableBatch[], seq: bigint, cause: DiskFull): void {
  for (const { store, batch } of batches) {
    let minTimeNs = batch.times[0] as bigint; // a batch is never empty
    let maxTimeNs = minTimeNs;
    for (const time of batch.times) {
      if (time < minTimeNs) minTimeNs = time;
      if (time > maxTimeNs) maxTimeNs = time;
    }
    store.tombstones.hideRefused({ tableId: store.tableId, seq, minTimeNs, maxTimeNs }, cause);
  }
}
