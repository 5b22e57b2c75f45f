import type { CommitLog } from '@plinth/kernel';
import { MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { Segment, SeriesFile } from '@plinth/tsdb-model/segment.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';
import { decodeWriteRecord } from '@plinth/tsdb-storage/wal/write-record.js';
import type { TableStore } from '../table/table-store.js';
import type { TableBatch, WriteSequencer } from '../write/write-sequencer.js';
import { loadSeries } from './load-series.js';
import { LoggedSeries, toBatch } from './logged-series.js';

/**
 * Fills a table's store from its files. The series are read on first use. If a series file is lost,
 * they are read immediately from segments. The series files are then dropped, and the next flush of
 * the table writes all its series.
 */
export async function openTable(options: {
  readonly store: TableStore;
  readonly segments: readonly Segment[];
  readonly seriesFiles: readonly SeriesFile[];
  readonly duckDb: DuckDbHost;
  readonly files: SegmentFiles;
  readonly registry: SegmentRegistry;
  readonly onIndexRebuilt: (error: FileDamaged) => void;
}): Promise<void> {
  const { store, segments, seriesFiles, duckDb, files } = options;
  // Rows up to the latest stored timestamp may repeat stored points; later rows cannot.
  const floorNs = segments.reduce((max, s) => (s.maxTime > max ? s.maxTime : max), MIN_INT64);
  const load = (
    stored: readonly { readonly objectName: string }[],
    areSegments: boolean,
  ): Promise<void> => {
    const paths = stored.map(({ objectName }) => files.pathOf(objectName));
    return loadSeries({ store, duckDb, paths, floorNs, areSegments });
  };
  const damage = await findDamage(seriesFiles, files);
  if (damage === undefined && seriesFiles.length > 0) {
    store.series.indexLater(seriesFiles, (stored) => load(stored, false));
  } else {
    if (damage !== undefined) options.onIndexRebuilt(damage);
    for (const segment of segments) await files.verify(segment);
    await load(segments, true);
    await giveUp(seriesFiles, options);
  }
  await store.open(segments);
}

async function findDamage(
  seriesFiles: readonly SeriesFile[],
  files: SegmentFiles,
): Promise<FileDamaged | undefined> {
  try {
    for (const file of seriesFiles) await files.verify(file);
    return undefined;
  } catch (error) {
    if (!(error instanceof FileDamaged)) throw error;
    return error;
  }
}

/**
 * Registered files that are missing in memory would not be in backups, and would remain after the
 * table is deleted.
 */
async function giveUp(
  seriesFiles: readonly SeriesFile[],
  { registry, files }: { readonly registry: SegmentRegistry; readonly files: SegmentFiles },
): Promise<void> {
  if (seriesFiles.length === 0) return;
  const removeSeriesFiles = seriesFiles.map(({ id }) => id);
  await registry.apply({
    addSegments: [],
    removeSegments: [],
    addSeriesFiles: [],
    removeSeriesFiles,
  });
  for (const { objectName } of seriesFiles) await files.moveAside(objectName);
}

/** Restores the log records that are not in segments to the buffer. Returns the number of rows. */
export async function replayLog(options: {
  readonly log: CommitLog;
  /**
   * The rows of files up to this number are in segments. The files still exist if the node stopped before it removed them.
   */
  readonly flushedFile: number;
  /** By table id, the last flushed file of tables that were flushed before the others. */
  readonly flushedTables: ReadonlyMap<number, number>;
  readonly sequencer: WriteSequencer;
  /** Returns `undefined` if the table was deleted permanently; its rows are dropped. */
  readonly storeOf: (tableId: number) => TableStore | undefined;
  /** Called for rows whose table does not exist. */
  readonly onRowsWithoutTable: (tableId: number, rowCount: number) => void;
  /** Called with the file number after its rows are in the buffer. */
  readonly onRestored: (file: number) => Promise<void> | undefined;
  /** Called for rows whose tag definitions were in a lost record. */
  readonly onRowsWithoutTags: (tableId: number, rowCount: number) => void;
}): Promise<number> {
  let rowCount = 0;
  let file = 0;
  const numbers = new Map<number, LoggedSeries>();
  for await (const { position, payload, isSalted } of options.log.replay()) {
    // In another file, a number may refer to other tags, whose definition a repair may have lost.
    if ((isSalted || options.log.hasGaps) && position.file !== file) numbers.clear();
    file = position.file;
    if (position.file <= options.flushedFile) continue;
    const record = decodeWriteRecord(payload);
    const batches: TableBatch[] = [];
    for (const table of record.tables) {
      if (position.file <= (options.flushedTables.get(table.tableId) ?? 0)) continue;
      const store = options.storeOf(table.tableId);
      if (store === undefined) {
        options.onRowsWithoutTable(table.tableId, table.rowCount);
        continue;
      }
      await store.series.whenIndexed();
      const series = numbers.get(table.tableId) ?? new LoggedSeries(store.series.index);
      numbers.set(table.tableId, series);
      series.define(table.seriesDefinitions);
      if (table.rowCount === 0) continue;
      const batch = toBatch(table, series, store.schema);
      if (batch.rowCount < table.rowCount)
        options.onRowsWithoutTags(table.tableId, table.rowCount - batch.rowCount);
      if (batch.rowCount === 0) continue;
      batches.push({ store, batch });
      rowCount += batch.rowCount;
    }
    options.sequencer.restore(batches, record.seq);
    await options.onRestored(position.file);
  }
  return rowCount;
}
