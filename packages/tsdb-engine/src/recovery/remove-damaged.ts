import type { Segment } from '@plinth/tsdb-model/segment.js';
import { FileDamaged } from '@plinth/tsdb-storage/segments/file-sums.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';

/**
 * Removes segments with damaged or missing files from their tables and quarantines the files.
 * Returns the number of segments.
 */
export async function removeDamaged(options: {
  readonly registry: SegmentRegistry;
  readonly files: SegmentFiles;
  readonly report: {
    segmentLost(segment: Segment, table: string, error: FileDamaged): void;
  };
  readonly tableName: (tableId: number) => string;
}): Promise<number> {
  const { registry, files, report, tableName } = options;
  const { segments } = await registry.load();
  let count = 0;
  for (const segment of segments) {
    try {
      await files.verify(segment);
    } catch (error) {
      if (!(error instanceof FileDamaged)) throw error;
      // Before the registry change: if the node stops in between, the repair runs again at the next start, when
      // unregistered files would be deleted.
      await files.moveAside(segment.objectName);
      await registry.apply({
        addSegments: [],
        removeSegments: [segment.id],
        addSeriesFiles: [],
        removeSeriesFiles: [],
      });
      report.segmentLost(segment, tableName(segment.tableId), error);
      count++;
    }
  }
  return count;
}
