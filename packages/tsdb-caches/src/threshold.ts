const BUCKET_COUNT = 4096;
/** Maximum number of values sorted in one step. */
const SORTED_COUNT = 4096;
/** Maximum number of narrowing rounds before the remaining values are sorted. */
const MAX_ROUNDS = 8;

/**
 * Returns the value at rank `count` (from 1) among the sorted values. Sorting all values would
 * block the event loop.
 */
export function thresholdOf(values: Float64Array, count: number): number {
  if (count <= 0 || values.length === 0) return Number.NEGATIVE_INFINITY;
  let rest = values;
  let place = Math.min(count, values.length);
  for (let round = 0; round < MAX_ROUNDS && rest.length > SORTED_COUNT; round++) {
    const [min, max] = extent(rest);
    const width = (max - min) / BUCKET_COUNT;
    // All values are equal, or too close for distinct buckets.
    if (!(width > 0)) break;
    const bucketOf = (value: number): number =>
      Math.min(BUCKET_COUNT - 1, Math.floor((value - min) / width));
    const counts = new Int32Array(BUCKET_COUNT);
    for (const value of rest) counts[bucketOf(value)] = (counts[bucketOf(value)] as number) + 1;
    let bucket = 0;
    while ((counts[bucket] as number) < place) {
      place -= counts[bucket] as number;
      bucket++;
    }
    rest = rest.filter((value) => bucketOf(value) === bucket);
  }
  return rest.toSorted()[place - 1] ?? Number.NEGATIVE_INFINITY;
}

function extent(values: Float64Array): readonly [number, number] {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return [min, max];
}
