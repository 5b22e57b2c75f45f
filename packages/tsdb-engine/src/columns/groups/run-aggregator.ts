import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { FieldCondition } from '@plinth/tsdb-model/query/column-query.js';
import { binFixed } from '@plinth/tsdb-model/time/calendar.js';
import { lowerBound, type Part } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { FILTER_BATCH_ROWS, rowFilter } from '../rows/matching-rows.js';
import { type Accumulator, type BucketRuns, gatherPresent } from './accumulators.js';
import type { Buckets } from './buckets.js';

/** Adds runs of rows to the buckets of their groups. */
export class RunAggregator {
  readonly #loadedRows: readonly LoadedRows[];
  readonly #conditions: readonly FieldCondition[];
  readonly #buckets: Buckets;
  readonly #rowCounts: Float64Array;
  readonly #accumulators: readonly Accumulator[];
  readonly #rows: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #bucketRuns: BucketRuns;
  readonly #present: BucketRuns;
  #source = -1;
  #loaded: LoadedRows | undefined;
  #filter: ReturnType<typeof rowFilter>;
  /** Bucket that contains the part's base time, and the offset within it. */
  #firstBucket = 0;
  #phaseNs = 0;

  constructor(options: {
    readonly loaded: readonly LoadedRows[];
    readonly conditions: readonly FieldCondition[];
    readonly buckets: Buckets;
    readonly rowCounts: Float64Array;
    readonly accumulators: readonly Accumulator[];
    /** Row count of the longest run. */
    readonly longest: number;
  }) {
    const batchRows = Math.min(FILTER_BATCH_ROWS, options.longest);
    this.#rows = new Uint32Array(batchRows);
    this.#numbers = new Float64Array(batchRows);
    this.#bucketRuns = newBucketRuns(batchRows);
    this.#present = newBucketRuns(batchRows);
    this.#loadedRows = options.loaded;
    this.#conditions = options.conditions;
    this.#buckets = options.buckets;
    this.#rowCounts = options.rowCounts;
    this.#accumulators = options.accumulators;
  }

  add(run: {
    readonly source: number;
    readonly from: number;
    readonly to: number;
    readonly firstGroupBucket: number;
  }): void {
    if (run.source !== this.#source) this.#enter(run.source);
    const loaded = this.#loaded as LoadedRows; // `#enter` has set it
    const isFiltered = this.#conditions.length > 0;
    if (isFiltered && this.#filter === undefined) return;
    for (let from = run.from; from < run.to; from += FILTER_BATCH_ROWS) {
      const to = Math.min(run.to, from + FILTER_BATCH_ROWS);
      let count = to - from;
      if (isFiltered) {
        for (let i = 0; i < count; i++) this.#rows[i] = from + i;
        count = this.#filter?.(this.#rows, count) ?? 0;
        this.#cutRowsIntoBuckets(loaded.part, count, run.firstGroupBucket);
      } else this.#cutRangeIntoBuckets(loaded.part, from, to, run.firstGroupBucket);
      this.#addBucketRuns(loaded, from, count, isFiltered);
    }
  }

  #enter(source: number): void {
    this.#source = source;
    const loaded = this.#loadedRows[source] as LoadedRows;
    this.#loaded = loaded;
    this.#filter = rowFilter(loaded, this.#conditions);
    const { widthNs, originNs, firstNs } = this.#buckets;
    if (widthNs === 0n) return;
    const startNs = binFixed(loaded.part.baseNs, widthNs, originNs);
    this.#firstBucket = Number((startNs - firstNs) / widthNs);
    this.#phaseNs = Number(loaded.part.baseNs - startNs);
  }

  /** Splits the rows `[from, to)` into runs of one bucket. */
  #cutRangeIntoBuckets(part: Part, from: number, to: number, firstGroupBucket: number): void {
    const { starts, groupBuckets } = this.#bucketRuns;
    const width = Number(this.#buckets.widthNs);
    const { offsets, unitNs } = part;
    let count = 0;
    if (width === 0) {
      starts[0] = 0;
      groupBuckets[0] = firstGroupBucket;
      count = 1;
    } else {
      for (let at = from; at < to; ) {
        const bucket = Math.floor((this.#phaseNs + (offsets[at] as number) * unitNs) / width);
        const end = Math.ceil(((bucket + 1) * width - this.#phaseNs) / unitNs);
        starts[count] = at - from;
        groupBuckets[count] = firstGroupBucket + this.#firstBucket + bucket;
        count++;
        at = firstFrom(offsets, at + 1, to, end);
      }
    }
    starts[count] = to - from;
    this.#bucketRuns.count = count;
  }

  /** Splits the first `count` selected rows into runs of one bucket. */
  #cutRowsIntoBuckets(part: Part, count: number, firstGroupBucket: number): void {
    const { starts, groupBuckets } = this.#bucketRuns;
    const width = Number(this.#buckets.widthNs);
    const { offsets, unitNs } = part;
    let runCount = 0;
    let end = -1;
    for (let i = 0; i < count; i++) {
      const offset = offsets[this.#rows[i] as number] as number;
      if (offset < end) continue;
      let groupBucket = firstGroupBucket;
      if (width === 0) end = Number.POSITIVE_INFINITY;
      else {
        const bucket = Math.floor((this.#phaseNs + offset * unitNs) / width);
        end = Math.ceil(((bucket + 1) * width - this.#phaseNs) / unitNs);
        groupBucket += this.#firstBucket + bucket;
      }
      starts[runCount] = i;
      groupBuckets[runCount] = groupBucket;
      runCount++;
    }
    starts[runCount] = count;
    this.#bucketRuns.count = runCount;
  }

  #addBucketRuns(loaded: LoadedRows, from: number, count: number, isFiltered: boolean): void {
    const bucketRuns = this.#bucketRuns;
    for (let i = 0; i < bucketRuns.count; i++) {
      const groupBucket = bucketRuns.groupBuckets[i] as number;
      const rows = (bucketRuns.starts[i + 1] as number) - (bucketRuns.starts[i] as number);
      this.#rowCounts[groupBucket] = (this.#rowCounts[groupBucket] as number) + rows;
    }
    let gathered: Column | undefined;
    let present = bucketRuns;
    for (const accumulator of this.#accumulators) {
      const { column } = accumulator;
      const stored = loaded.column(column.id);
      if (stored === undefined) continue;
      if (gathered !== column) {
        gathered = column;
        if (stored.validity !== undefined) {
          if (!isFiltered) for (let i = 0; i < count; i++) this.#rows[i] = from + i;
          const target = { numbers: this.#numbers, bucketRuns: this.#present };
          gatherPresent(stored, stored.validity, this.#rows, bucketRuns, target);
          present = this.#present;
        } else {
          present = bucketRuns;
          if (isFiltered) {
            for (let i = 0; i < count; i++)
              this.#numbers[i] = stored.values[this.#rows[i] as number] as number;
          } else this.#numbers.set(stored.values.subarray(from, from + count));
        }
      }
      accumulator.addBucketRuns(this.#numbers, present);
    }
  }
}

function newBucketRuns(rowCount: number): BucketRuns {
  return {
    starts: new Uint32Array(rowCount + 1),
    groupBuckets: new Uint32Array(rowCount),
    count: 0,
  };
}

/**
 * Returns the first row in `[from, to)` whose offset is at least `offset`. The search starts near
 * `from`.
 */
function firstFrom(offsets: Uint32Array, from: number, to: number, offset: number): number {
  let step = 4;
  let low = from;
  while (low + step < to && (offsets[low + step] as number) < offset) {
    low += step;
    step *= 2;
  }
  return lowerBound(offsets, low, Math.min(to, low + step + 1), offset);
}
