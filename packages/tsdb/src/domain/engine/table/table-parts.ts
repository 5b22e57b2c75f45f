import type { TableSchema } from '../../../model/schema.js';
import type { SegmentFiles } from '../../../storage/segments/segment-files.js';
import type { Generations } from './generations.js';
import type { RepeatedPoints } from './repeated-points.js';
import type { TableSegments } from './table-segments.js';
import type { TableSeries } from './table-series.js';
import type { TextSizes } from './text-sizes.js';
import type { Tombstones } from './tombstones.js';

/** What a table is made of, for those who read it. */
export interface TableParts {
  /** The newest picture of the table's columns. */
  readonly schema: () => TableSchema;
  readonly files: SegmentFiles;
  readonly series: TableSeries;
  readonly generations: Generations;
  readonly segments: TableSegments;
  readonly repeated: RepeatedPoints;
  readonly tombstones: Tombstones;
  readonly textSizes: TextSizes;
}
