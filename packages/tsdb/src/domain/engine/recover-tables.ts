import type { EngineNeeds } from './engine-needs.js';
import type { EngineTables } from './engine-tables.js';
import { openTable, replayLog } from './open-tables.js';
import { removeDamaged } from './remove-damaged.js';
import type { TableStore } from './table-store.js';
import type { WriteBuffer } from './write-buffer.js';

/** At the start of the node: brings back what was written before, from the registry, the files and the log. */
export async function recoverTables(
  needs: EngineNeeds,
  tables: EngineTables,
  buffer: WriteBuffer,
): Promise<void> {
  const { catalog, files, registry, host, log, report } = needs;
  if (needs.settings.repair) {
    const tableName = (id: number): string => catalog.keptTableById(id)?.name ?? '';
    await removeDamaged({ registry, files, report, tableName });
  }
  const { segments, seriesFiles, flushedFile, tombstones } = await registry.load();
  const stored = [...segments, ...seriesFiles];
  const unknown = await files.removeUnknown(new Set(stored.map((file) => file.objectName)));
  if (unknown.length > 0) report.unknownFilesRemoved(unknown);
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
      host,
      files,
      onIndexRebuilt: (error) => report.indexRebuilt(error),
    });
  }
  for (const segment of segments) buffer.noteSeq(segment.maxSeq);
  for (const tombstone of tombstones) {
    buffer.noteSeq(tombstone.seq);
    storeOf(tombstone.tableId)?.tombstones.load([tombstone]);
  }
  const rowCount = await replayLog({ log, flushedFile, buffer, storeOf });
  if (flushedFile >= 0) await log.seal(flushedFile);
  if (rowCount > 0) report.replayed(rowCount);
}
