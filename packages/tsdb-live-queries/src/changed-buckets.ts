/** Maximum number of pending buckets of one query. */
const MAX_BUCKETS = 10_000;
/** Maximum number of buckets in a range, whose rows are sent as one event. */
const MAX_RANGE_BUCKETS = 100;
/** Maximum number of ranges per computation. */
const MAX_RANGES = 16;

export interface BucketRange {
  /** Inclusive. */
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

/** The time buckets that contain new rows. */
export class ChangedBuckets {
  readonly #widthNs: bigint;
  readonly #starts = new Set<bigint>();
  #lastStart: bigint | undefined;
  /** The newest write that has a row in one of the buckets. */
  seq = 0n;

  constructor(widthNs: bigint) {
    this.#widthNs = widthNs;
  }

  get count(): number {
    return this.#starts.size;
  }

  /** @returns the number of buckets that were dropped because too many are pending: 0 or 1. */
  touch(timeNs: bigint, seq: bigint): number {
    if (seq > this.seq) this.seq = seq;
    const last = this.#lastStart;
    if (last !== undefined && timeNs >= last && timeNs < last + this.#widthNs) return 0;
    const rest = timeNs % this.#widthNs;
    const start = timeNs - (rest < 0n ? rest + this.#widthNs : rest);
    this.#lastStart = start;
    this.#starts.add(start);
    if (this.#starts.size <= MAX_BUCKETS) return 0;
    const [oldest] = this.#starts;
    if (oldest !== undefined) this.#starts.delete(oldest);
    return 1;
  }

  /** Removes pending buckets and returns them as ranges of adjacent buckets. */
  takeRanges(): readonly BucketRange[] {
    const ranges: { minTimeNs: bigint; maxTimeNs: bigint }[] = [];
    const maxWidthNs = BigInt(MAX_RANGE_BUCKETS) * this.#widthNs;
    this.#lastStart = undefined;
    for (const start of [...this.#starts].sort((a, b) => (a < b ? -1 : 1))) {
      const range = ranges.at(-1);
      const isAdjacent = range?.maxTimeNs === start - 1n;
      if (isAdjacent && start - range.minTimeNs < maxWidthNs) range.maxTimeNs += this.#widthNs;
      else if (ranges.length === MAX_RANGES) break;
      else ranges.push({ minTimeNs: start, maxTimeNs: start + this.#widthNs - 1n });
      this.#starts.delete(start);
    }
    return ranges;
  }

  putBack({ minTimeNs, maxTimeNs }: BucketRange): void {
    for (let start = minTimeNs; start <= maxTimeNs; start += this.#widthNs) this.#starts.add(start);
  }
}
