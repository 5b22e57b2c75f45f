import type { SeriesFile } from '@plinth/tsdb-model/segment.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { mixedParquetFrom } from '../scan/sources.js';
import type { TableStore } from '../table/table-store.js';

/** Merging starts at this many files of a table. */
const MERGE_COUNT = 10;
/**
 * A file is merged with smaller ones if it has at most this many times their series. Each series is
 * then rewritten only a few times.
 */
const MAX_RATIO = 2;

/**
 * Returns the smallest files of a table that are worth merging, at least two; empty if there are
 * few files.
 */
export function chooseSeriesFiles(
  files: readonly SeriesFile[],
  isSkipped: (file: SeriesFile) => boolean,
): readonly SeriesFile[] {
  if (files.length < MERGE_COUNT) return [];
  const chosen: SeriesFile[] = [];
  let seriesCount = 0;
  for (const file of [...files].sort((a, b) => a.seriesCount - b.seriesCount)) {
    if (isSkipped(file)) continue;
    if (chosen.length >= 2 && file.seriesCount > seriesCount * MAX_RATIO) break;
    chosen.push(file);
    seriesCount += file.seriesCount;
  }
  return chosen.length < 2 ? [] : chosen;
}

export async function mergeSeriesFiles(
  store: TableStore,
  inputs: readonly SeriesFile[],
  files: SegmentFiles,
): Promise<SeriesFile> {
  for (const file of inputs) await files.verify(file);
  const paths = inputs.map(({ objectName }) => files.pathOf(objectName));
  const seriesCount = inputs.reduce((sum, file) => sum + file.seriesCount, 0);
  const written = await files.writeSeries({
    tableUuid: store.schema.uuid,
    // A tag that was added later is only in some of them.
    select: `SELECT * FROM ${mixedParquetFrom(paths)}`,
    seriesCount,
  });
  return { ...written, tableId: store.tableId, seriesCount };
}
