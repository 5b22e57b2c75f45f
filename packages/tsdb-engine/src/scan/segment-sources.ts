import { MAX_INT64, MIN_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import { grouped } from '@plinth/tsdb-model/grouped.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { type DeletionSql, deletionKey, NOTHING_DELETED } from './deletion-sql.js';
import { parquetFrom, type Source } from './sources.js';

/**
 * Segments with the same columns form one source. Overlays form separate sources, and so do
 * segments from which different rows or values were deleted.
 * @param deletionSqlOf returns the conditions for what was deleted from a segment.
 */
export function segmentSources(
  files: SegmentFiles,
  segments: readonly Segment[],
  deletionSqlOf: (segment: Segment) => DeletionSql = () => NOTHING_DELETED,
): Source[] {
  const conditioned = segments.map((segment) => ({ segment, deleted: deletionSqlOf(segment) }));
  const alike = grouped(
    conditioned,
    ({ segment, deleted }) =>
      `${segment.kind} ${[...segment.columnIds].sort().join()} ${deletionKey(deleted)}`,
  );
  return Array.from(alike.values(), (group) => ({
    ...segmentSource(
      files,
      group.map(({ segment }) => segment),
    ),
    where: group[0]?.deleted.remainingRows,
    ...(group[0] !== undefined && { deletedValues: group[0].deleted.deletedValues }),
  }));
}

/** Returns one source over segments of one kind with the same columns. */
function segmentSource(files: SegmentFiles, segments: readonly Segment[]): Source {
  const [first] = segments;
  return {
    kind: first?.kind === 'overlay' ? 'may_repeat' : 'unique',
    from: parquetFrom(segments.map((segment) => files.pathOf(segment.objectName))),
    order: '0',
    where: undefined,
    hasColumn: (id) => first?.columnIds.has(id) ?? false,
    minTime: segments.reduce((min, s) => (s.minTime < min ? s.minTime : min), MAX_INT64),
    maxTime: segments.reduce((max, s) => (s.maxTime > max ? s.maxTime : max), MIN_INT64),
  };
}
