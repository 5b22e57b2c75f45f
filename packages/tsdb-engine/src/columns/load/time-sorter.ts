/** Bits of the key sorted per pass, unless a single pass over all bits is cheaper. */
const DIGIT_BITS = 11;
/** A single pass is used if it needs at most this many counters per row. */
const COUNTERS_PER_ROW = 8;
const LEAST_COUNTERS = 2 ** 16;
const TWO_32 = 2 ** 32;

/** Sorts times in the unit of a `TimeScale`. The sort is stable, and its result is valid until the next sort. */
export class TimeSorter {
  readonly #isDescending: boolean;
  #keys = new Uint32Array(0);
  #order = new Uint32Array(0);
  #nextOrder = new Uint32Array(0);
  #counters = new Uint32Array(0);

  constructor(isDescending: boolean) {
    this.#isDescending = isDescending;
  }

  /** Returns the indexes of the first `count` times in sorted order. */
  sorted(scaledTimes: Float64Array, count: number): Uint32Array {
    this.#grow(count);
    let [order, next] = [this.#order, this.#nextOrder];
    for (let i = 0; i < count; i++) order[i] = i;
    const { least, most, isSorted } = this.#rangeOf(scaledTimes, count);
    if (isSorted) return order.subarray(0, count);
    const range = most - least + 1;
    // Keys start at zero; keys of more than 32 bits are sorted 32 bits at a time.
    for (let unit = 1; unit < range; unit *= TWO_32) {
      this.#makeKeys(scaledTimes, count, { least, most, unit });
      const size = Math.min(TWO_32, Math.ceil(range / unit));
      const isOnePass = size <= Math.max(LEAST_COUNTERS, count * COUNTERS_PER_ROW);
      const bits = Math.ceil(Math.log2(size));
      const step = isOnePass ? bits : DIGIT_BITS;
      for (let shift = 0; shift < bits; shift += step) {
        this.#sortByDigit({ count, order, next, shift, mask: 2 ** step - 1 });
        [order, next] = [next, order];
      }
    }
    return order.subarray(0, count);
  }

  #rangeOf(
    scaledTimes: Float64Array,
    count: number,
  ): { readonly least: number; readonly most: number; readonly isSorted: boolean } {
    let least = Number.POSITIVE_INFINITY;
    let most = 0;
    let ascends = true;
    let descends = true;
    let before = scaledTimes[0] as number;
    for (let i = 0; i < count; i++) {
      const time = scaledTimes[i] as number;
      if (time < before) ascends = false;
      else if (time > before) descends = false;
      if (time < least) least = time;
      if (time > most) most = time;
      before = time;
    }
    return { least, most, isSorted: this.#isDescending ? descends : ascends };
  }

  #makeKeys(
    scaledTimes: Float64Array,
    count: number,
    range: { readonly least: number; readonly most: number; readonly unit: number },
  ): void {
    const { least, most, unit } = range;
    const keys = this.#keys;
    const [sign, start] = this.#isDescending ? [-1, most] : [1, -least];
    // The typed array drops all bits beyond 32.
    if (unit === 1)
      for (let i = 0; i < count; i++) keys[i] = start + sign * (scaledTimes[i] as number);
    else
      for (let i = 0; i < count; i++)
        keys[i] = Math.floor((start + sign * (scaledTimes[i] as number)) / unit);
  }

  /** Counting sort by some bits of the keys. */
  #sortByDigit(pass: {
    readonly count: number;
    readonly order: Uint32Array;
    readonly next: Uint32Array;
    readonly shift: number;
    readonly mask: number;
  }): void {
    const { count, order, next, shift, mask } = pass;
    const keys = this.#keys;
    if (this.#counters.length <= mask) this.#counters = new Uint32Array(mask + 1);
    const ends = this.#counters.fill(0, 0, mask + 1);
    for (let i = 0; i < count; i++) {
      const digit = ((keys[i] as number) >>> shift) & mask;
      ends[digit] = (ends[digit] as number) + 1;
    }
    for (let digit = 0, sum = 0; digit <= mask; digit++) {
      const size = ends[digit] as number;
      ends[digit] = sum;
      sum += size;
    }
    for (let i = 0; i < count; i++) {
      const from = order[i] as number;
      const digit = ((keys[from] as number) >>> shift) & mask;
      const at = ends[digit] as number;
      next[at] = from;
      ends[digit] = at + 1;
    }
  }

  #grow(count: number): void {
    if (count <= this.#order.length) return;
    this.#keys = new Uint32Array(count);
    this.#order = new Uint32Array(count);
    this.#nextOrder = new Uint32Array(count);
  }
}
