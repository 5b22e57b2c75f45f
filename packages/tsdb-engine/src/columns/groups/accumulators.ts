import type { Column } from '@plinth/tsdb-model/columns/column.js';
import { isSet, type StoredColumn } from '../cache/part.js';

export type Measure = 'count' | 'min' | 'max' | 'sum';

/** Cells of one measure of one field: one per bucket of each group. */
export class Accumulator {
  readonly column: Column;
  readonly measure: Measure;
  readonly values: Float64Array;

  constructor(column: Column, measure: Measure, cellCount: number) {
    this.column = column;
    this.measure = measure;
    this.values = new Float64Array(cellCount);
    if (measure === 'min') this.values.fill(Number.POSITIVE_INFINITY);
    if (measure === 'max') this.values.fill(Number.NEGATIVE_INFINITY);
  }

  /**
   * Adds runs of a column: run `i` is `[starts[i], starts[i + 1])` of `numbers`, for cell
   * `cells[i]`. No value is missing.
   */
  addBucketRuns(numbers: Float64Array, bucketRuns: BucketRuns): void {
    const { values } = this;
    const { starts, cells, count } = bucketRuns;
    switch (this.measure) {
      case 'count':
        for (let i = 0; i < count; i++) {
          const cell = cells[i] as number;
          const rows = (starts[i + 1] as number) - (starts[i] as number);
          values[cell] = (values[cell] as number) + rows;
        }
        return;
      case 'sum':
        for (let i = 0; i < count; i++) {
          const cell = cells[i] as number;
          const end = starts[i + 1] as number;
          let sum = values[cell] as number;
          for (let at = starts[i] as number; at < end; at++) sum += numbers[at] as number;
          values[cell] = sum;
        }
        return;
      case 'max':
        for (let i = 0; i < count; i++) {
          const cell = cells[i] as number;
          const end = starts[i + 1] as number;
          let max = values[cell] as number;
          for (let at = starts[i] as number; at < end; at++) {
            const value = numbers[at] as number;
            if (value > max) max = value;
          }
          values[cell] = max;
        }
        return;
      case 'min':
        for (let i = 0; i < count; i++) {
          const cell = cells[i] as number;
          const end = starts[i + 1] as number;
          let min = values[cell] as number;
          for (let at = starts[i] as number; at < end; at++) {
            const value = numbers[at] as number;
            if (value < min) min = value;
          }
          values[cell] = min;
        }
    }
  }
}

/** Gathered rows, divided into runs of consecutive rows in one bucket, with the cell of each. */
export interface BucketRuns {
  /** The array has `count + 1` elements. */
  readonly starts: Uint32Array;
  readonly cells: Uint32Array;
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
  let kept = 0;
  for (let i = 0; i < bucketRuns.count; i++) {
    target.bucketRuns.starts[i] = kept;
    target.bucketRuns.cells[i] = bucketRuns.cells[i] as number;
    const end = bucketRuns.starts[i + 1] as number;
    for (let at = bucketRuns.starts[i] as number; at < end; at++) {
      const row = rows[at] as number;
      if (isSet(validity, row)) target.numbers[kept++] = column.values[row] as number;
    }
  }
  target.bucketRuns.starts[bucketRuns.count] = kept;
  target.bucketRuns.count = bucketRuns.count;
}
