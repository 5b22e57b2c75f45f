import { FileDamaged } from '../../../storage/segments/file-sums.js';
import type { Segment } from '../../../storage/segments/segment.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import type { SegmentRegistry } from '../../../storage/segments/segment-registry.js';

/** Takes segments whose files are damaged or missing out of their tables; what is left of the files is kept aside. Returns how many there were. */
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
      // First: a node that ends in between repairs again, and unknown files would be removed at the next start.
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
