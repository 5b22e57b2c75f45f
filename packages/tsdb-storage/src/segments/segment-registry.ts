import type { CommitLog, LogCheckpointStore, RecordRef, RelationalStore } from '@plinth/kernel';
import type { Segment, SeriesFile } from '@plinth/tsdb-model/segment.js';
import type { Transaction } from 'kysely';
import { LogCheckpointRecord, storeFirstRecord, storeNewestFile } from './log-checkpoint-record.js';
import { forgetPublished, keepPublished, PublishedTables } from './published-tables.js';
import {
  fromSegment,
  fromSeriesFile,
  type RegistryTables,
  toSegment,
  toSeriesFile,
} from './registry-rows.js';
import { SegmentsChanged } from './segments-changed.js';
import { fromTombstone, type StoredTombstone, toTombstone } from './stored-tombstones.js';

/** An atomic change of the stored files of the node. */
export interface RegistryChange {
  readonly addSegments: readonly Segment[];
  /** Must all still be registered; otherwise nothing changes (`SegmentsChanged`). */
  readonly removeSegments: readonly string[];
  readonly addSeriesFiles: readonly SeriesFile[];
  /** Must all still be registered, like `removeSegments`. */
  readonly removeSeriesFiles: readonly string[];
  /** All rows of these tables in log files up to `file` are in segments. */
  readonly flushed?: {
    readonly file: number;
    readonly tableIds: readonly number[];
    /** All rows in files up to this number are in segments; `undefined` if this has not changed. */
    readonly lastRemovableFile: number | undefined;
    /** The first record after `lastRemovableFile`. */
    readonly replayStart: RecordRef;
    /** Number of a log file that exists. */
    readonly newestFile: number;
  };
}

/** The files of each table, in the relational store. The flushed log position is updated in the same transaction. */
export class SegmentRegistry {
  readonly logCheckpointRecord: LogCheckpointRecord;
  readonly published: PublishedTables;
  readonly #store: RelationalStore;

  constructor(store: RelationalStore) {
    this.logCheckpointRecord = new LogCheckpointRecord(store);
    this.published = new PublishedTables(store);
    this.#store = store;
  }

  async load(): Promise<{
    readonly segments: readonly Segment[];
    readonly seriesFiles: readonly SeriesFile[];
    /** -1 if nothing was ever flushed. */
    readonly flushedFile: number;
    /** The same by table id, for tables that are flushed beyond `flushedFile`. */
    readonly flushedTables: ReadonlyMap<number, number>;
    readonly tombstones: readonly StoredTombstone[];
    /** Tables with row deletions that have been carried out. */
    readonly deletedFrom: readonly number[];
  }> {
    const reader = this.#store.reader<RegistryTables>();
    const segments = await reader.selectFrom('tsdb_segments').selectAll().execute();
    const seriesFiles = await reader.selectFrom('tsdb_series_files').selectAll().execute();
    const tombstones = await reader.selectFrom('tsdb_tombstones').selectAll().execute();
    const deletedFrom = await reader.selectFrom('tsdb_deleted_from').selectAll().execute();
    return {
      ...(await this.#position()),
      deletedFrom: deletedFrom.map(({ table_id }) => Number(table_id)),
      tombstones: tombstones.map(toTombstone),
      segments: segments.map(toSegment),
      seriesFiles: seriesFiles.map(toSeriesFile),
    };
  }

  async #position(): Promise<{
    readonly flushedFile: number;
    readonly flushedTables: ReadonlyMap<number, number>;
  }> {
    const reader = this.#store.reader<RegistryTables>();
    const state = await reader.selectFrom('tsdb_log_state').selectAll().executeTakeFirst();
    const tables = await reader.selectFrom('tsdb_flushed_tables').selectAll().execute();
    return {
      flushedFile: state === undefined ? -1 : Number(state.flushed_file),
      flushedTables: new Map(tables.map((row) => [row.table_id, Number(row.flushed_file)])),
    };
  }

  /**
   * Returns the last log file with rows that are in segments. Later files contain none; 0 if
   * nothing was ever flushed.
   */
  async lastFlushedFile(): Promise<number> {
    const { flushedFile, flushedTables } = await this.#position();
    return Math.max(0, flushedFile, ...new Set(flushedTables.values()));
  }

  /** Returns the expected state of the log, with which it is opened. */
  async logCheckpoint(): Promise<LogCheckpointStore> {
    return await this.logCheckpointRecord.asStore(await this.logCheckpointFile());
  }

  /**
   * Returns the number of a log file. The log contains this file or a later one, unless it was
   * removed; 0 when unknown.
   */
  async logCheckpointFile(): Promise<number> {
    const file = await this.logCheckpointRecord.newestFile();
    // Flushed files are removed, and on a full disk there may be no later file.
    return file > (await this.#position()).flushedFile ? file : 0;
  }

  /** Called at the end of startup, when the log contains all rows that are not in files. */
  async storeLogState(log: Pick<CommitLog, 'newestFile' | 'firstRecordAfter'>): Promise<void> {
    const { flushedFile } = await this.#position();
    await this.#store.transaction<RegistryTables, void>(async (tx) => {
      await storeNewestFile(tx, log.newestFile);
      await storeFirstRecord(tx, log.firstRecordAfter(flushedFile));
    });
  }

  /** Adds all of them or none. */
  async addTombstones(tombstones: readonly StoredTombstone[]): Promise<void> {
    await this.#store.transaction<RegistryTables, void>(async (tx) => {
      for (const tombstone of tombstones) {
        await tx.insertInto('tsdb_tombstones').values(fromTombstone(tombstone)).execute();
      }
    });
  }

  /** Returns whether a failed `addTombstones` was committed. One stored tombstone is sufficient proof. */
  async hasTombstones([first]: readonly StoredTombstone[]): Promise<boolean> {
    const reader = this.#store.reader<RegistryTables>();
    const found = reader.selectFrom('tsdb_tombstones').select('id');
    return (await found.where('id', '=', first?.id ?? '').execute()).length > 0;
  }

  /** Removes tombstones of one table that were carried out in all its files. */
  async removeTombstones(table_id: number, ids: readonly string[]): Promise<void> {
    await this.#store.transaction<RegistryTables, void>(async (tx) => {
      await tx
        .insertInto('tsdb_deleted_from')
        .values({ table_id })
        .onConflict((c) => c.doNothing())
        .execute();
      await tx
        .deleteFrom('tsdb_tombstones')
        .where('id', 'in', [...ids])
        .execute();
    });
  }

  /** Records the modification times of verified segments, by id. Removed segments are skipped. */
  async storeVerified(files: ReadonlyMap<string, number>): Promise<void> {
    await this.#store.transaction<RegistryTables, void>(async (tx) => {
      for (const [id, modified_ms] of files) {
        await tx.updateTable('tsdb_segments').set({ modified_ms }).where('id', '=', id).execute();
      }
    });
  }

  /** Removes all entries of the table, within the caller's transaction. */
  async removeTable<DB>(tx: Transaction<DB>, tableId: number): Promise<void> {
    // This registry defines the tables; the type of the caller's transaction may not contain them.
    const own = tx as unknown as Transaction<RegistryTables>;
    await own.deleteFrom('tsdb_segments').where('table_id', '=', tableId).execute();
    await own.deleteFrom('tsdb_series_files').where('table_id', '=', tableId).execute();
    await own.deleteFrom('tsdb_tombstones').where('table_id', '=', tableId).execute();
    await own.deleteFrom('tsdb_flushed_tables').where('table_id', '=', tableId).execute();
    await own.deleteFrom('tsdb_deleted_from').where('table_id', '=', tableId).execute();
    await forgetPublished(tx, tableId);
  }

  async apply(change: RegistryChange): Promise<void> {
    await this.#store.transaction<RegistryTables, void>(async (tx) => {
      if (change.removeSegments.length > 0) {
        await keepPublished(tx, change.removeSegments);
        const removed = await tx
          .deleteFrom('tsdb_segments')
          .where('id', 'in', [...change.removeSegments])
          .executeTakeFirst();
        if (Number(removed.numDeletedRows) !== change.removeSegments.length) {
          throw new SegmentsChanged('segments were replaced concurrently');
        }
      }
      for (const segment of change.addSegments) {
        await tx.insertInto('tsdb_segments').values(fromSegment(segment)).execute();
      }
      if (change.removeSeriesFiles.length > 0) {
        const removed = await tx
          .deleteFrom('tsdb_series_files')
          .where('id', 'in', [...change.removeSeriesFiles])
          .executeTakeFirst();
        if (Number(removed.numDeletedRows) !== change.removeSeriesFiles.length) {
          throw new SegmentsChanged('series files were replaced concurrently');
        }
      }
      for (const file of change.addSeriesFiles) {
        await tx.insertInto('tsdb_series_files').values(fromSeriesFile(file)).execute();
      }
      await movePosition(tx, change.flushed);
    });
  }

  /**
   * Returns whether `apply` was committed although it failed with an error other than `SegmentsChanged`. A change is
   * atomic, so one stored file is sufficient proof. A change that was not
   * committed is rolled back before its failure is reported, so the result cannot change later.
   */
  async hasTakenEffect(change: RegistryChange): Promise<boolean> {
    const reader = this.#store.reader<RegistryTables>();
    const [segment] = change.addSegments;
    const [file] = change.addSeriesFiles;
    const [removed] = change.removeSegments;
    const has = async (table: 'tsdb_segments' | 'tsdb_series_files', id: string) =>
      (await reader.selectFrom(table).select('id').where('id', '=', id).execute()).length > 0;
    if (segment !== undefined) return await has('tsdb_segments', segment.id);
    if (file !== undefined) return await has('tsdb_series_files', file.id);
    // A change without files can be repeated safely.
    return removed !== undefined && !(await has('tsdb_segments', removed));
  }
}

async function movePosition(
  tx: Transaction<RegistryTables>,
  flushed: RegistryChange['flushed'],
): Promise<void> {
  const before = await tx.selectFrom('tsdb_log_state').selectAll().executeTakeFirst();
  const version = before === undefined ? 1 : Number(before.version) + 1;
  let flushed_file = before === undefined ? -1 : Number(before.flushed_file);
  if (flushed !== undefined) {
    const { file, tableIds, lastRemovableFile = -1, replayStart } = flushed;
    if (lastRemovableFile > flushed_file) await storeFirstRecord(tx, replayStart);
    flushed_file = Math.max(flushed_file, lastRemovableFile);
    for (const table_id of file > flushed_file ? tableIds : []) {
      await tx
        .insertInto('tsdb_flushed_tables')
        .values({ table_id, flushed_file: file })
        .onConflict((c) => c.column('table_id').doUpdateSet({ flushed_file: file }))
        .execute();
    }
    await tx.deleteFrom('tsdb_flushed_tables').where('flushed_file', '<=', flushed_file).execute();
  }
  if (before === undefined) {
    await tx.insertInto('tsdb_log_state').values({ id: 1, flushed_file, version }).execute();
  } else {
    await tx.updateTable('tsdb_log_state').set({ flushed_file, version }).execute();
  }
  if (flushed !== undefined) await storeNewestFile(tx, flushed.newestFile);
}
