import { grouped } from '@plinth/tsdb-model/grouped.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import { dayOf } from '../flush/partitions.js';
import { type Tombstone, tombstonesOfSegment } from '../table/tombstones.js';

/**
 * Number of segments of one partition and level that triggers a merge, and the maximum number that
 * a merge reads; it reads fewer if they have many values. The result, of the next level, is one
 * segment, or several if their partitions are narrower.
 */
const MERGE_COUNT = 8;
/** Maximum size of the inputs of a merge, if it can be divided; larger segments are not merged. */
const MAX_MERGE_BYTES = 256 * 1024 * 1024;
/**
 * Large segments, with this many values, are only rewritten for overlays, deletions and requests, so that
 * each row is merged a few times at most.
 */
const LARGE_SEGMENT_VALUES = 8 * 1024 * 1024;
/**
 * Maximum number of values in a merge of smaller segments, which are sorted in memory: about two
 * flushes.
 */
const MAX_MERGE_VALUES = 3 * LARGE_SEGMENT_VALUES;

/**
 * The next compaction step. `merge` creates unique segments. `split` divides an overlay into
 * several that span less time.
 */
export interface Merge {
  readonly kind: 'merge' | 'split';
  readonly inputs: readonly Segment[];
  /** Maximum number of output files; absent means the same limit as for a flush. */
  readonly maxPartitions?: number;
}

/** The time range of a requested compaction; both ends are inclusive. */
export interface CompactionRange {
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

export interface MergeChoice {
  readonly segments: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
  /** True if a merge with the segment failed recently, or the disk has no space for it. */
  readonly isSkipped: (segment: Segment) => boolean;
  readonly maxBytes?: number;
}

/**
 * Returns the next merge, or `undefined` if there is nothing to do. Segments with deleted rows come
 * first, one at a time. Overlays follow, because they slow down every query. Otherwise the smallest
 * segments of a partition are merged, until they are large enough.
 */
export function chooseMerge(choice: MergeChoice): Merge | undefined {
  const { segments, tombstones, isSkipped } = choice;
  const withDeleted = segments.find(
    (segment) =>
      segment.kind === 'unique' &&
      tombstonesOfSegment(tombstones, segment).length > 0 &&
      !isSkipped(segment),
  );
  if (withDeleted !== undefined) return { kind: 'merge', inputs: [withDeleted] };
  return mergeOfOverlays(choice) ?? mergeOfAPartition(choice);
}

/**
 * Merges overlays that overlap in time, newest first, with every segment that one of them may
 * overwrite. Other segments have no point in common with them. If that exceeds the size limit, or a
 * file is unreadable, overlays are split by time until each is within a day. An overlay that is
 * still too large is merged once more overlays have accumulated, or if a deletion must be carried
 * out.
 */
function mergeOfOverlays({
  segments,
  tombstones,
  isSkipped,
  maxBytes = MAX_MERGE_BYTES,
}: MergeChoice): Merge | undefined {
  for (const overlays of overlappingOverlays(segments)) {
    const overwritten = segments.filter(
      (segment) => segment.kind === 'unique' && overlays.some((each) => overlap(each, segment)),
    );
    const inputs = [...overwritten, ...overlays];
    const isReadable = !inputs.some(isSkipped);
    if (isReadable && sizeOf(inputs) <= maxBytes) return { kind: 'merge', inputs };
    const wide = overlays.find((each) => dayOf(each.minTime) !== dayOf(each.maxTime));
    if (wide !== undefined && !isSkipped(wide)) return { kind: 'split', inputs: [wide] };
    const isDue =
      overlays.length >= MERGE_COUNT ||
      overlays.some((each) => tombstonesOfSegment(tombstones, each).length > 0);
    if (isReadable && isDue) return { kind: 'merge', inputs };
  }
  return undefined;
}

/** Returns the groups of overlays that are connected by overlapping time ranges, newest first. */
function overlappingOverlays(segments: readonly Segment[]): readonly (readonly Segment[])[] {
  const overlays = segments
    .filter((segment) => segment.kind === 'overlay')
    .sort((a, b) => (a.minTime < b.minTime ? -1 : 1));
  const groups: Segment[][] = [];
  let endTime: bigint | undefined;
  for (const overlay of overlays) {
    if (endTime !== undefined && overlay.minTime <= endTime) groups.at(-1)?.push(overlay);
    else groups.push([overlay]);
    if (endTime === undefined || overlay.maxTime > endTime) endTime = overlay.maxTime;
  }
  return groups.reverse();
}

function mergeOfAPartition({
  segments,
  isSkipped,
  maxBytes = MAX_MERGE_BYTES,
}: MergeChoice): Merge | undefined {
  const unique = segments.filter(
    (each) => each.kind === 'unique' && valuesOf(each) < LARGE_SEGMENT_VALUES && !isSkipped(each),
  );
  const keyOf = ({ level, ...partition }: Segment): string => `${partitionOf(partition)} ${level}`;
  const [inputs] = [...grouped(unique, keyOf).values()]
    .filter((group) => group.length >= MERGE_COUNT)
    .map((group) => withinValues(group.sort(bySize).slice(0, MERGE_COUNT)))
    .filter((group) => sizeOf(group) <= maxBytes)
    .sort((a, b) => ((a[0]?.partitionStartNs ?? 0n) > (b[0]?.partitionStartNs ?? 0n) ? -1 : 1));
  return inputs === undefined ? undefined : { kind: 'merge', inputs };
}

/**
 * Chooses a merge that was requested. All segments of a partition that overlaps the time range are
 * merged into one, unless they cannot be read together. Their levels and number are ignored.
 */
export function chooseRequestedMerge(
  { segments, isSkipped, maxBytes = MAX_MERGE_BYTES }: Omit<MergeChoice, 'tombstones'>,
  { minTimeNs, maxTimeNs }: CompactionRange,
): Merge | undefined {
  const candidates = segments.filter(
    (each) =>
      each.kind === 'unique' &&
      each.minTime <= maxTimeNs &&
      each.maxTime >= minTimeNs &&
      !isSkipped(each),
  );
  for (const group of grouped(candidates, partitionOf).values()) {
    const inputs: Segment[] = [];
    let sizeBytes = 0;
    for (const segment of group.sort(bySize)) {
      sizeBytes += segment.sizeBytes;
      if (sizeBytes > maxBytes) break;
      inputs.push(segment);
    }
    if (inputs.length > 1) return { kind: 'merge', inputs, maxPartitions: 1 };
  }
  return undefined;
}

const partitionOf = ({
  partitionStartNs,
  partitionWidthNs,
}: Pick<Segment, 'partitionStartNs' | 'partitionWidthNs'>): string =>
  `${partitionStartNs} ${partitionWidthNs}`;

/** Returns the first segments that a merge may read together; at least three. */
function withinValues(segments: readonly Segment[]): readonly Segment[] {
  let valueCount = 0;
  return segments.filter((segment) => {
    valueCount += valuesOf(segment);
    return valueCount <= MAX_MERGE_VALUES;
  });
}

/** Returns the number of values, including series and timestamps. */
const valuesOf = ({ rowCount, columnIds }: Segment): number => rowCount * (columnIds.size + 2);

const bySize = (a: Segment, b: Segment): number => a.sizeBytes - b.sizeBytes;

function overlap(a: Segment, b: Segment): boolean {
  return a.minTime <= b.maxTime && a.maxTime >= b.minTime;
}

function sizeOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, segment) => sum + segment.sizeBytes, 0);
}
