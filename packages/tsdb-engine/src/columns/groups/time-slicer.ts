import { lowerBound } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import type { Runs } from '../rows/runs.js';
import type { TimeScale } from './time-scale.js';

/**
 * Small enough that the values of a slice stay in the CPU cache while they are read in time order.
 */
const SLICE_ROWS = 32_768;
/**
 * Slices with more than this many times the target row count are split, unless all rows have one
 * timestamp.
 */
const MOST_SHARE = 2;
/** Maximum growth from one slice to the next, because the density of rows may change. */
const MOST_GROWTH = 4;

/** Marks a source whose rows are all later. */
const NOT_YET = -1;

/** Splits runs into time slices. A slice is valid until the next call. */
export class TimeSlicer {
  readonly #runs: Runs;
  readonly #loaded: readonly LoadedRows[];
  readonly #scale: TimeScale;
  readonly #isDescending: boolean;
  /** The remaining rows of each run, and where the rows of the next slice start or end. */
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  readonly #cut: Uint32Array;
  /** For each source, a tick that no row precedes in the order of the result. */
  readonly #firstTick: Float64Array;
  /**
   * For each source, the offset where the next slice ends, or where it starts in descending order.
   */
  readonly #bounds: Float64Array;
  /** Width of a slice in ticks. */
  #width: number;
  readonly #sliceRows: number;
  /** The slice that was returned last. */
  readonly #slice: Pick<Runs, 'source' | 'series' | 'from' | 'to'>;

  constructor(options: {
    readonly runs: Runs;
    readonly loaded: readonly LoadedRows[];
    readonly scale: TimeScale;
    readonly isDescending: boolean;
    /** Approximate row count of the first slice. */
    readonly firstRows: number;
    /** Approximate row count of the other slices. */
    readonly sliceRows?: number | undefined;
  }) {
    const { runs, loaded, scale } = options;
    this.#runs = runs;
    this.#loaded = loaded;
    this.#scale = scale;
    this.#isDescending = options.isDescending;
    this.#from = runs.from.slice();
    this.#to = runs.to.slice();
    this.#cut = new Uint32Array(runs.from.length);
    this.#slice = {
      source: new Uint32Array(runs.from.length),
      series: new Uint32Array(runs.from.length),
      from: new Uint32Array(runs.from.length),
      to: new Uint32Array(runs.from.length),
    };
    this.#sliceRows = options.sliceRows ?? SLICE_ROWS;
    const { starts, factors } = scale;
    this.#bounds = new Float64Array(starts.length);
    this.#firstTick = starts.map((start, source) => {
      const { minOffset, maxOffset } = (loaded[source] as LoadedRows).part;
      const offset = options.isDescending ? maxOffset : minOffset;
      return start + offset * (factors[source] as number);
    });
    // Assumes that rows are evenly distributed.
    const share = Math.min(options.firstRows, this.#sliceRows) / Math.max(1, runs.rowCount);
    this.#width = Math.max(1, Math.floor(scale.lastTick * share));
  }

  /** Returns `undefined` after the last slice. */
  next(): Runs | undefined {
    const edge = this.#edge();
    if (edge === undefined) return undefined;
    let count = this.#cutAt(edge);
    while (count > this.#sliceRows * MOST_SHARE && this.#width > 1) {
      this.#width = Math.max(1, Math.floor((this.#width * this.#sliceRows) / count));
      count = this.#cutAt(edge);
    }
    const growth = Math.min(MOST_GROWTH, this.#sliceRows / count);
    const width = Math.floor(this.#width * growth);
    this.#width = Math.max(1, Math.min(this.#scale.lastTick + 1, width));
    return this.#nextSlice(count);
  }

  /** Returns the tick of the first remaining row. */
  #edge(): number | undefined {
    const { source } = this.#runs;
    const { starts, factors } = this.#scale;
    const sign = this.#isDescending ? -1 : 1;
    let edge = Number.POSITIVE_INFINITY;
    for (let run = 0; run < source.length; run++) {
      const [from, to] = [this.#from[run] as number, this.#to[run] as number];
      const at = source[run] as number;
      // No row of this source comes earlier.
      if (from === to || sign * (this.#firstTick[at] as number) >= edge) continue;
      const { offsets } = (this.#loaded[at] as LoadedRows).part;
      const offset = offsets[this.#isDescending ? to - 1 : from] as number;
      const tick = sign * ((starts[at] as number) + offset * (factors[at] as number));
      if (tick < edge) edge = tick;
    }
    return edge === Number.POSITIVE_INFINITY ? undefined : sign * edge;
  }

  /** Finds the rows closer to `edge` than the width of a slice. @returns their number. */
  #cutAt(edge: number): number {
    const { source } = this.#runs;
    // Ticks beyond the scale may not be exact doubles.
    const bound = this.#isDescending
      ? Math.max(0, edge - this.#width + 1)
      : Math.min(this.#scale.lastTick + 1, edge + this.#width);
    this.#bound(bound);
    let count = 0;
    for (let run = 0; run < source.length; run++) {
      const [from, to] = [this.#from[run] as number, this.#to[run] as number];
      const at = source[run] as number;
      const offset = this.#bounds[at] as number;
      if (from === to || offset === NOT_YET) {
        this.#cut[run] = this.#isDescending ? to : from;
        continue;
      }
      const cut = lowerBound((this.#loaded[at] as LoadedRows).part.offsets, from, to, offset);
      this.#cut[run] = cut;
      count += this.#isDescending ? to - cut : cut - from;
    }
    return count;
  }

  /** Finds the first offset of each source that is not before `tick`. */
  #bound(tick: number): void {
    const { starts, factors } = this.#scale;
    for (let source = 0; source < starts.length; source++) {
      const [start, factor] = [starts[source] as number, factors[source] as number];
      const firstTick = this.#firstTick[source] as number;
      if (this.#isDescending ? firstTick < tick : firstTick >= tick) {
        this.#bounds[source] = NOT_YET;
        continue;
      }
      let offset = Math.max(0, Math.ceil((tick - start) / factor));
      // The division may have been rounded; the loops below correct it.
      while (offset > 0 && start + (offset - 1) * factor >= tick) offset--;
      while (start + offset * factor < tick) offset++;
      this.#bounds[source] = offset;
    }
  }

  #nextSlice(count: number): Runs {
    const { source, series } = this.#runs;
    const left = this.#isDescending ? this.#to : this.#from;
    const slice = this.#slice;
    let size = 0;
    let longest = 0;
    for (let run = 0; run < source.length; run++) {
      const cut = this.#cut[run] as number;
      const from = this.#isDescending ? cut : (this.#from[run] as number);
      const to = this.#isDescending ? (this.#to[run] as number) : cut;
      if (from >= to) continue;
      slice.source[size] = source[run] as number;
      slice.series[size] = series[run] as number;
      slice.from[size] = from;
      slice.to[size] = to;
      size++;
      if (to - from > longest) longest = to - from;
      left[run] = cut;
    }
    return {
      source: slice.source.subarray(0, size),
      series: slice.series.subarray(0, size),
      from: slice.from.subarray(0, size),
      to: slice.to.subarray(0, size),
      rowCount: count,
      longest,
    };
  }
}
