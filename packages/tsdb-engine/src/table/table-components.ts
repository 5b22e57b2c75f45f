import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { Generations } from './generations.js';
import type { RepeatedPoints } from './repeated-points.js';
import type { TableSegments } from './table-segments.js';
import type { TableSeriesState } from './table-series-state.js';
import type { TextSizes } from './text-sizes.js';
import type { Tombstones } from './tombstones.js';

/** The components of a table, for its readers. */
export interface TableComponents {
  /** The newest version of the table's schema. */
  readonly schema: () => TableSchema;
  readonly files: SegmentFiles;
  readonly series: TableSeriesState;
  readonly generations: Generations;
  readonly segments: TableSegments;
  readonly repeated: RepeatedPoints;
  readonly tombstones: Tombstones;
  readonly textSizes: TextSizes;
}
