import { DictionaryVector } from '@plinth/tsdb-model/columns/dictionary-vector.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { GroupOutput, GroupsComputation } from '@plinth/tsdb-model/query/column-query.js';
import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { STEP_ROWS, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { Accumulator, Measure } from './accumulators.js';
import type { Buckets } from './buckets.js';
import type { SeriesGroups } from './series-groups.js';

const CHUNK_ROWS = 4096;

/** Returns the groups that have rows, in the requested order, as result chunks. */
export function* groupChunks(options: {
  readonly computation: GroupsComputation;
  readonly groups: SeriesGroups;
  readonly buckets: Buckets;
  readonly rowCounts: Float64Array;
  readonly accumulators: readonly Accumulator[];
  readonly isTotal: boolean;
}): Steps<readonly ResultChunk[] | undefined> {
  const { computation, groups, buckets, rowCounts } = options;
  const groupBuckets = yield* orderedGroupBuckets(options);
  const end =
    computation.limit === undefined ? groupBuckets.length : computation.offset + computation.limit;
  const taken = groupBuckets.slice(computation.offset, end);
  const chunks: ResultChunk[] = [];
  const texts = new Map(computation.tags.map((tag) => [tag, groups.valuesOf(tag)]));
  for (let from = 0; from < taken.length; from += CHUNK_ROWS) {
    const some = taken.slice(from, from + CHUNK_ROWS);
    const codes = texts.size > 0 ? groupsOf(some, buckets) : undefined;
    const columns: ColumnVector[] = [];
    for (const output of computation.outputs) {
      const vector =
        output.kind === 'bucket'
          ? bucketVector(some, buckets)
          : output.kind === 'tag'
            ? new DictionaryVector(codes ?? groupsOf(some, buckets), texts.get(output.tag) ?? [])
            : valueVector(output, some, rowCounts, options.accumulators);
      if (vector === undefined) return undefined;
      columns.push(vector);
    }
    chunks.push({ rowCount: some.length, columns });
    yield;
  }
  return chunks;
}

/** Returns the group buckets that have rows, in the requested order. */
function* orderedGroupBuckets(options: Parameters<typeof groupChunks>[0]): Steps<number[]> {
  const { computation, groups, buckets, rowCounts, isTotal } = options;
  if (isTotal) return [0];
  const { order } = computation;
  const byTags = yield* groups.sorted(order);
  const bucketOrder = order.find(({ key }) => key.kind === 'bucket');
  const isBucketFirst = order[0]?.key.kind === 'bucket';
  const groupBuckets: number[] = [];
  const bucketAt = (index: number): number =>
    bucketOrder?.descending ? buckets.count - 1 - index : index;
  if (isBucketFirst) {
    for (let index = 0; index < buckets.count; index++) {
      const bucket = bucketAt(index);
      for (const group of byTags) {
        const groupBucket = group * buckets.count + bucket;
        if ((rowCounts[groupBucket] as number) > 0) groupBuckets.push(groupBucket);
      }
      if (index % Math.ceil(STEP_ROWS / byTags.length) === 0) yield;
    }
    return groupBuckets;
  }
  let scanned = 0;
  for (const group of byTags) {
    scanned += buckets.count;
    if (scanned >= STEP_ROWS) {
      scanned = 0;
      yield;
    }
    for (let index = 0; index < buckets.count; index++) {
      const groupBucket = group * buckets.count + bucketAt(index);
      if ((rowCounts[groupBucket] as number) > 0) groupBuckets.push(groupBucket);
    }
  }
  return groupBuckets;
}

function groupsOf(groupBuckets: readonly number[], buckets: Buckets): Int32Array {
  const groups = new Int32Array(groupBuckets.length);
  for (let i = 0; i < groupBuckets.length; i++) {
    groups[i] = Math.floor((groupBuckets[i] as number) / buckets.count);
  }
  return groups;
}

const TWO_32 = 2 ** 32;

/**
 * A bigint per row would be an object, so the start of the next bucket is computed by adding 32-bit
 * halves.
 */
function bucketVector(groupBuckets: readonly number[], buckets: Buckets): ColumnVector {
  const { count, firstNs, widthNs } = buckets;
  const values = new BigInt64Array(groupBuckets.length);
  // Little-endian, like all platforms that Node supports.
  const halves = new Uint32Array(values.buffer);
  const widthLow = Number(widthNs & 0xffff_ffffn);
  const widthHigh = Number(widthNs >> 32n);
  const startOf = (bucket: number): bigint => {
    const timeNs = firstNs + BigInt(bucket) * widthNs;
    // The first bucket starts no earlier than the minimum timestamp.
    return timeNs < MIN_TIME_NS ? MIN_TIME_NS : timeNs;
  };
  const firstWhole = firstNs < MIN_TIME_NS ? 1 : 0;
  let before = -1;
  let low = 0;
  let high = 0;
  for (let i = 0; i < groupBuckets.length; i++) {
    const bucket = (groupBuckets[i] as number) % count;
    if (before >= firstWhole && bucket === before + 1) {
      low += widthLow;
      high += widthHigh;
      if (low >= TWO_32) {
        low -= TWO_32;
        high += 1;
      }
    } else if (bucket !== before) {
      const timeNs = startOf(bucket);
      low = Number(timeNs & 0xffff_ffffn);
      high = Number(timeNs >> 32n);
    }
    before = bucket;
    halves[i * 2] = low;
    halves[i * 2 + 1] = high;
  }
  return { values, validity: undefined };
}

function valueVector(
  output: Exclude<GroupOutput, { kind: 'bucket' | 'tag' }>,
  groupBuckets: readonly number[],
  rowCounts: Float64Array,
  accumulators: readonly Accumulator[],
): ColumnVector | undefined {
  const valuesOf = (measure: Measure): Float64Array | undefined =>
    accumulators.find((one) => one.column === output.column && one.measure === measure)?.values;
  const values = new Float64Array(groupBuckets.length);
  if (output.kind === 'count') {
    const counts = output.column === undefined ? rowCounts : valuesOf('count');
    if (counts === undefined) return undefined;
    groupBuckets.forEach((groupBucket, i) => {
      values[i] = counts[groupBucket] as number;
    });
    return { values, validity: undefined };
  }
  const isExtreme = output.kind === 'min' || output.kind === 'max';
  const source = valuesOf(isExtreme ? (output.kind as Measure) : 'sum');
  const counts = valuesOf('count');
  if (source === undefined) return undefined;
  const validity = new Uint8Array((groupBuckets.length + 7) >> 3);
  let missing = 0;
  for (let i = 0; i < groupBuckets.length; i++) {
    const groupBucket = groupBuckets[i] as number;
    const value = source[groupBucket] as number;
    const count = counts?.[groupBucket];
    // Integers are finite, so an infinite extreme means that the group bucket has no value.
    if (count === undefined ? !Number.isFinite(value) : count === 0) {
      missing++;
      continue;
    }
    validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
    values[i] = output.kind === 'mean' ? value / (count as number) : value;
  }
  return { values, validity: missing === 0 ? undefined : validity };
}
