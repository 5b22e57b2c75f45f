import { floorDiv, NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';

const NS_PER_BUCKET = NS_PER_SECOND;
/** Maximum number of changed seconds, about two days. Above it, every second counts as changed. */
const MAX_BUCKETS = 200_000;
/** Each range costs a query; above this number, the nearest ranges are joined. */
const MAX_RANGES = 500;

/** A time range in nanoseconds, both bounds inclusive. */
export interface TimeRange {
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

/** The seconds in which rows were written. */
export class DirtyTimes {
  readonly #buckets = new Set<bigint>();
  #areAll = false;

  add(times: BigInt64Array): void {
    if (this.#areAll) return;
    for (const time of times) this.#buckets.add(floorDiv(time, NS_PER_BUCKET));
    if (this.#buckets.size <= MAX_BUCKETS) return;
    this.#buckets.clear();
    this.#areAll = true;
  }

  addAll(): void {
    this.#areAll = true;
  }

  /** Returns the ranges, ascending, or `all`. */
  ranges(): readonly TimeRange[] | 'all' {
    if (this.#areAll) return 'all';
    const sorted = [...this.#buckets].sort((a, b) => (a < b ? -1 : 1));
    return joined(rangesOf(sorted));
  }

  /** Like `ranges`, and clears the changed seconds. */
  take(): readonly TimeRange[] | 'all' {
    const ranges = this.ranges();
    this.#buckets.clear();
    this.#areAll = false;
    return ranges;
  }
}

/** Joins ranges over the smallest gaps until at most `MAX_RANGES` remain. */
function joined(ranges: readonly TimeRange[]): readonly TimeRange[] {
  if (ranges.length <= MAX_RANGES) return ranges;
  const gaps = ranges.slice(1).map(({ minTimeNs }, i) => ({
    index: i + 1,
    widthNs: minTimeNs - (ranges[i]?.maxTimeNs ?? minTimeNs),
  }));
  gaps.sort((a, b) => (a.widthNs < b.widthNs ? 1 : a.widthNs > b.widthNs ? -1 : 0));
  const starts = gaps.slice(0, MAX_RANGES - 1).map(({ index }) => index);
  starts.sort((a, b) => a - b);
  return [0, ...starts].map((start, i) => ({
    minTimeNs: (ranges[start] as TimeRange).minTimeNs, // an index of a range
    maxTimeNs: (ranges[(starts[i] ?? ranges.length) - 1] as TimeRange).maxTimeNs,
  }));
}

function rangesOf(buckets: readonly bigint[]): TimeRange[] {
  const ranges: { minTimeNs: bigint; maxTimeNs: bigint }[] = [];
  for (const bucket of buckets) {
    const minTimeNs = bucket * NS_PER_BUCKET;
    const maxTimeNs = minTimeNs + NS_PER_BUCKET - 1n;
    const last = ranges.at(-1);
    if (last !== undefined && last.maxTimeNs + 1n === minTimeNs) last.maxTimeNs = maxTimeNs;
    else ranges.push({ minTimeNs, maxTimeNs });
  }
  return ranges;
}
