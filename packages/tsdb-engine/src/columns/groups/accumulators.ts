import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { isSet, type StoredColumn } from '../cache/part.js';

export type Measure = 'count' | 'min' | 'max' | 'sum';

/** One measure of one field, for each group bucket. */
export class Accumulator {
  readonly column: Column;
  readonly measure: Measure;
  readonly values: Float64Array;

  constructor(column: Column, measure: Measure, groupBucketCount: number) {
    this.column = column;
    this.measure = measure;
    this.values = new Float64Array(groupBucketCount);
    if (measure === 'min') this.values.fill(Number.POSITIVE_INFINITY);
    if (measure === 'max') this.values.fill(Number.NEGATIVE_INFINITY);
  }

  /**
   * Adds runs of a column: run `i` is `[starts[i], starts[i + 1])` of `numbers`, for group bucket
   * `groupBuckets[i]`. No value is missing.
   */
  addBucketRuns(numbers: Float64Array, bucketRuns: BucketRuns): void {
    const { values } = this;
    const { starts, groupBuckets, count } = bucketRuns;
    switch (this.measure) {
      case 'count':
        for (let i = 0; i < count; i++) {
          const groupBucket = groupBuckets[i] as number;
          const rows = (starts[i + 1] as number) - (starts[i] as number);
          values[groupBucket] = (values[groupBucket] as number) + rows;
        }
        return;
      case 'sum':
        for (let i = 0; i < count; i++) {
          const groupBucket = groupBuckets[i] as number;
          const end = starts[i + 1] as number;
          let sum = values[groupBucket] as number;
          for (let at = starts[i] as number; at < end; at++) sum += numbers[at] as number;
          values[groupBucket] = sum;
        }
        return;
      case 'max':
        for (let i = 0; i < count; i++) {
          const groupBucket = groupBuckets[i] as number;
          const end = starts[i + 1] as number;
          let max = values[groupBucket] as number;
          for (let at = starts[i] as number; at < end; at++) {
            const value = numbers[at] as number;
            if (value > max) max = value;
          }
          values[groupBucket] = max;
        }
        return;
      case 'min':
        for (let i = 0; i < count; i++) {
          const groupBucket = groupBuckets[i] as number;
          const end = starts[i + 1] as number;
          let min = values[groupBucket] as number;
          for (let at = starts[i] as number; at < end; at++) {
            const value = numbers[at] as number;
            if (value < min) min = value;
          }
          values[groupBucket] = min;
        }
    }
  }
}

/** Gathered rows, divided into runs of consecutive rows in one bucket, with the group bucket of each run. */
export interface BucketRuns {
  /** The array has `count + 1` elements. */
  readonly starts: Uint32Array;
  readonly groupBuckets: Uint32Array;
  count: number;
}

/**
 * Returns the values of a column at the given rows, as doubles. Missing values are omitted, and
 * `bucketRuns` is shortened accordingly.
 */
export function gatherPresent(
  column: StoredColumn,
  validity: Uint8Array,
  rows: Uint32Array,
  bucketRuns: BucketRuns,
  target: { readonly numbers: Float64Array; readonly bucketRuns: BucketRuns },
): void {
  let count = 0;
  for (let i = 0; i < bucketRuns.count; i++) {
    target.bucketRuns.starts[i] = count;
    target.bucketRuns.groupBuckets[i] = bucketRuns.groupBuckets[i] as number;
    const end = bucketRuns.starts[i + 1] as number;
    for (let at = bucketRuns.starts[i] as number; at < end; at++) {
      const row = rows[at] as number;
      if (isSet(validity, row)) target.numbers[count++] = column.values[row] as number;
    }
  }
  target.bucketRuns.starts[bucketRuns.count] = count;
  target.bucketRuns.count = bucketRuns.count;
}
