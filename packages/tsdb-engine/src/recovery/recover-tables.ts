import { qualifiedTableName } from '@plinth/tsdb-catalog/catalog.js';
import type { EngineDeps } from '../engine-deps.js';
import type { EngineTables } from '../engine-tables.js';
import type { Flusher } from '../flush/flusher.js';
import type { RetainedLog } from '../live/retained-log.js';
import type { TableStore } from '../table/table-store.js';
import type { WriteSequencer } from '../write/write-sequencer.js';
import { openTable, replayLog } from './open-tables.js';
import { removeDamaged } from './remove-damaged.js';
import { ReplayFlushes } from './replay-flushes.js';

/** Restores tables at startup from the registry, the files and the log. */
export async function recoverTables(
  deps: EngineDeps,
  parts: {
    readonly tables: EngineTables;
    readonly sequencer: WriteSequencer;
    readonly flusher: Flusher;
    readonly retainedLog: RetainedLog;
  },
): Promise<void> {
  const { tables, sequencer } = parts;
  const { catalog, files, registry, duckDb, log, report } = deps;
  const nameOf = (id: number) => qualifiedTableName(catalog, id);
  let lostCount = 0;
  if (deps.settings.repair) {
    const tableName = (id: number): string => nameOf(id) ?? `number ${id}`;
    lostCount = await removeDamaged({ registry, files, report, tableName });
  }
  const { segments, seriesFiles, flushedFile, flushedTables, ...deletions } = await registry.load();
  const { tombstones, deletedFrom } = deletions;
  const stored = [...segments, ...seriesFiles];
  // Log file numbers start at 1; files up to `flushedFile` may still exist.
  const isLogWhole =
    lostCount === 0 && !log.hasGaps && log.firstFile <= Math.max(flushedFile, 0) + 1;
  const known = new Set(stored.map((file) => file.objectName));
  const published = await registry.published.loadFiles();
  const unknown = await files.clearUnknown({ known, kept: published }, isLogWhole);
  if (unknown !== undefined) report.unknownFiles(unknown);
  const storeOf = (tableId: number): TableStore | undefined => {
    const schema = catalog.keptTableById(tableId);
    return schema === undefined ? undefined : tables.storeOf(schema);
  };
  for (const tableId of new Set(stored.map((file) => file.tableId))) {
    const store = storeOf(tableId);
    if (store === undefined) continue;
    await openTable({
      store,
      segments: segments.filter((segment) => segment.tableId === tableId),
      seriesFiles: seriesFiles.filter((file) => file.tableId === tableId),
      duckDb,
      files,
      registry,
      onIndexRebuilt: (error) => report.indexRebuilt(error),
    });
  }
  for (const segment of segments) sequencer.advanceSeq(segment.maxSeq);
  for (const tombstone of tombstones) {
    sequencer.advanceSeq(tombstone.seq);
    storeOf(tombstone.tableId)?.tombstones.load([tombstone]);
  }
  for (const tableId of deletedFrom) storeOf(tableId)?.tombstones.noteEarlier();
  const lost = new Map<number, number>();
  const onRowsWithoutTable = (tableId: number, count: number): void => {
    // Rows of permanently deleted tables are dropped without a report.
    if (!catalog.mayHaveAssignedTableId(tableId))
      lost.set(tableId, (lost.get(tableId) ?? 0) + count);
  };
  const tagless = new Map<number, number>();
  const onRowsWithoutTags = (tableId: number, count: number): void => {
    tagless.set(tableId, (tagless.get(tableId) ?? 0) + count);
  };
  const position = { flushedFile, flushedTables };
  const replayFlushes = new ReplayFlushes(deps, parts);
  const onRestored = (file: number): Promise<void> | undefined => replayFlushes.flushWhenDue(file);
  const rowCount = await replayLog({
    ...{ log, ...position, sequencer, storeOf },
    ...{ onRowsWithoutTable, onRowsWithoutTags, onRestored },
  });
  await replayFlushes.end();
  if (tagless.size > 0) report.rowsLost(tagless, { without: 'tags', nameOf });
  // Records that could not be restored stay in the log, where a repair can read them, until rows are flushed.
  if (tagless.size === 0 && lost.size === 0) parts.flusher.removeObsoleteFiles();
  if (lost.size > 0) {
    // The log keeps these rows for a while: at the next start, a new table with the same id would receive them.
    for (const tableId of lost.keys()) catalog.reserveTableIdsUpTo(tableId);
    report.rowsLost(lost, { without: 'table', nameOf });
  }
  await parts.retainedLog.applyEarlierDeletions(tombstones);
  if (flushedFile >= 0) await log.removeThrough(flushedFile);
  await registry.storeLogState(log);
  if (rowCount > 0) report.replayed(rowCount);
}
