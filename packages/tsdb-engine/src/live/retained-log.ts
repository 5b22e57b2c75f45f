import { setImmediate } from 'node:timers/promises';
import type { CommitLog } from '@plinth/kernel';
import { decodeWriteRecord, type StoredTable } from '@plinth/tsdb-storage/wal/write-record.js';
import { LoggedSeries, toBatch } from '../recovery/logged-series.js';
import type { TableStore } from '../table/table-store.js';
import { isDeletion, type Tombstone } from '../table/tombstones.js';
import type { TableBatch, WriteSequencer } from '../write/write-sequencer.js';

/** Number of bytes of records that are read before other work runs. */
const YIELD_BYTES = 2 * 1024 * 1024;
/** Number of the first log file of a node. */
const FIRST_FILE = 1;

/** The rows of a record that belong to the requested tables; empty if there are none. */
export interface RetainedRecord {
  readonly seq: bigint;
  readonly batches: readonly TableBatch[];
}

/** Log files were removed while they were read: some of the requested records can no longer be read. */
export class RecordsNotRetained extends Error {
  override readonly name = 'RecordsNotRetained';
}

/**
 * Reads rows in the order in which they were written: those that are not in segments yet, and those
 * of log files that are retained after their flush.
 */
export class RetainedLog {
  readonly #log: CommitLog;
  readonly #sequencer: WriteSequencer;
  readonly #storeOf: (tableId: number) => TableStore | undefined;
  /** Number of the first record in each file. */
  #known = new Map<number, bigint>();
  /** By table: rows written before this number may have been deleted. */
  readonly #deleted = new Map<number, bigint>();

  constructor(options: {
    readonly log: CommitLog;
    readonly sequencer: WriteSequencer;
    readonly storeOf: (tableId: number) => TableStore | undefined;
  }) {
    this.#log = options.log;
    this.#sequencer = options.sequencer;
    this.#storeOf = options.storeOf;
  }

  /** Retains log files after their flush, for clients that will continue. */
  startRetaining(): Promise<void> {
    return this.#log.startRetaining();
  }

  /** Deletes the retained log files, and retains no others. */
  stopRetaining(): Promise<void> {
    return this.#log.stopRetaining();
  }

  /** The number of the newest write, which may not be durable yet. */
  get lastSeq(): bigint {
    return this.#sequencer.lastSeq;
  }

  /** Resolves when all writes up to now are durable or refused, and their rows were reported. */
  whenSettled(): Promise<void> {
    return this.#sequencer.whenSettled();
  }

  /**
   * Applies deletions of earlier runs. Log files that were written before them may still contain the
   * rows, if that run ended before it could delete the files.
   */
  async applyEarlierDeletions(
    deletions: readonly Pick<Tombstone, 'tableId' | 'seq'>[],
  ): Promise<void> {
    if (deletions.length === 0) return;
    let newest = 0n;
    for (const { tableId, seq } of deletions) {
      if (seq > (this.#deleted.get(tableId) ?? 0n)) this.#deleted.set(tableId, seq);
      if (seq > newest) newest = seq;
    }
    const first = await this.#oldest();
    if (first !== undefined && first.seq < newest) await this.#log.clearRetained();
  }

  /**
   * Call when rows of these tables were deleted. Deletes the retained files; clients can no longer
   * continue from earlier rows.
   */
  rowsDeleted(tableIds: readonly number[]): Promise<void> {
    for (const tableId of tableIds) this.#deleted.set(tableId, this.#sequencer.lastSeq);
    return this.#log.clearRetained();
  }

  /** Returns the least number after which all writes can be read. */
  async oldestSeq(): Promise<bigint> {
    const first = await this.#oldest();
    // Without any record, nothing shows what was written before.
    if (first === undefined) return this.lastSeq;
    return first.file === FIRST_FILE ? 0n : first.seq - 1n;
  }

  /**
   * Returns the least number that is not less than `afterSeq` and after which all rows of the table
   * can be read.
   * @param oldestSeq see `oldestSeq`.
   */
  availableFrom(tableId: number, afterSeq: bigint, oldestSeq: bigint): bigint {
    // A deletion or an earlier start may have used greater numbers than the newest row.
    if (afterSeq > this.lastSeq) return afterSeq;
    const deletions = this.#storeOf(tableId)?.tombstones.all.filter(isDeletion) ?? [];
    const deletedSeq = this.#deleted.get(tableId) ?? 0n;
    const seqs = [afterSeq, oldestSeq, deletedSeq, ...deletions.map(({ seq }) => seq)];
    return seqs.reduce((a, b) => (b > a ? b : a));
  }

  /**
   * Yields the records with `afterSeq < seq <= throughSeq`, all of which must be durable or refused. Throws
   * `RecordsNotRetained`.
   */
  async *read(range: {
    readonly afterSeq: bigint;
    readonly throughSeq: bigint;
    readonly tableIds: ReadonlySet<number>;
  }): AsyncGenerator<RetainedRecord, void, undefined> {
    const starts = await this.#starts();
    const first = starts.findLastIndex(({ seq }) => seq <= range.afterSeq + 1n);
    const [oldest] = starts;
    if (first < 0 && oldest?.file !== FIRST_FILE && range.afterSeq < range.throughSeq)
      throw new RecordsNotRetained();
    let unyieldedBytes = 0;
    for (const { file } of starts.slice(Math.max(0, first))) {
      // A file defines its series before their rows, so it is read from its start.
      const series = new Map<number, LoggedSeries>();
      let isThere = false;
      for await (const { payload } of this.#log.recordsOf(file)) {
        const { seq, tables } = decodeWriteRecord(payload);
        isThere = true;
        if (seq > range.throughSeq) return;
        const isWanted = seq > range.afterSeq;
        const batches: TableBatch[] = [];
        for (const table of tables) {
          if (!range.tableIds.has(table.tableId)) continue;
          const batch = await this.#batchOf(table, series, isWanted);
          if (batch !== undefined) batches.push(batch);
        }
        if (isWanted) yield { seq, batches };
        unyieldedBytes += payload.byteLength;
        if (unyieldedBytes < YIELD_BYTES) continue;
        unyieldedBytes = 0;
        await setImmediate();
      }
      if (isThere) continue;
      this.#known.delete(file);
      throw new RecordsNotRetained();
    }
  }

  async #batchOf(
    table: StoredTable,
    known: Map<number, LoggedSeries>,
    isWanted: boolean,
  ): Promise<TableBatch | undefined> {
    const store = this.#storeOf(table.tableId);
    if (store === undefined) return undefined;
    await store.series.whenIndexed();
    const series = known.get(table.tableId) ?? new LoggedSeries(store.series.index);
    known.set(table.tableId, series);
    series.define(table.seriesDefinitions);
    if (!isWanted || table.rowCount === 0) return undefined;
    const batch = toBatch(table, series, store.schema);
    return batch.rowCount === 0 ? undefined : { store, batch };
  }

  /** The oldest readable file with a record. Does not open later files. */
  async #oldest(): Promise<{ readonly file: number; readonly seq: bigint } | undefined> {
    for (const file of await this.#log.readableFiles()) {
      const seq = this.#known.get(file) ?? (await this.#firstSeqOf(file));
      if (seq === undefined) continue;
      this.#known.set(file, seq);
      return { file, seq };
    }
    return undefined;
  }

  /** The readable files with the number of their first record, ascending; without empty files. */
  async #starts(): Promise<readonly { readonly file: number; readonly seq: bigint }[]> {
    const starts: { file: number; seq: bigint }[] = [];
    for (const file of await this.#log.readableFiles()) {
      const seq = this.#known.get(file) ?? (await this.#firstSeqOf(file));
      if (seq !== undefined) starts.push({ file, seq });
    }
    this.#known = new Map(starts.map(({ file, seq }) => [file, seq]));
    return starts;
  }

  async #firstSeqOf(file: number): Promise<bigint | undefined> {
    for await (const { payload } of this.#log.recordsOf(file))
      return decodeWriteRecord(payload).seq;
    return undefined;
  }
}
