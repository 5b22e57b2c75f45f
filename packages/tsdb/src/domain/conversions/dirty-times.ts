import { floorDiv, NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';

const NS_PER_BUCKET = NS_PER_SECOND;
/** About two days of seconds; above it, every second counts as changed. */
const MAX_BUCKETS = 200_000;
/** Each range costs a query; above this number, every second counts as changed. */
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

  /** Returns the ranges, ascending, or `all`, and starts anew. */
  take(): readonly TimeRange[] | 'all' {
    const areAll = this.#areAll;
    const sorted = [...this.#buckets].sort((a, b) => (a < b ? -1 : 1));
    this.#buckets.clear();
    this.#areAll = false;
    const ranges = areAll ? [] : rangesOf(sorted);
    return areAll || ranges.length > MAX_RANGES ? 'all' : ranges;
  }
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
