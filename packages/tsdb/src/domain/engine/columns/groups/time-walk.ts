import { lowerBound } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import type { Runs } from '../rows/runs.js';
import type { TimeScale } from './time-scale.js';

/** Small enough that the values of a slice lie in the processor's own memory while they are taken in the order of time. */
const SLICE_ROWS = 32_768;
/** Slices of so many times more rows are cut, unless all are of one time. */
const MOST_SHARE = 2;
/** What is known of the rows of one slice says so much about the next. */
const MOST_GROWTH = 4;

/** A source whose rows all come later. */
const NOT_YET = -1;

/** Cuts runs into slices of time. A slice is good until the next one is asked for. */
export class TimeWalk {
  readonly #runs: Runs;
  readonly #loaded: readonly LoadedRows[];
  readonly #scale: TimeScale;
  readonly #isDescending: boolean;
  /** By run, the rows that are left, and where those of the next slice begin or end. */
  readonly #from: Uint32Array;
  readonly #to: Uint32Array;
  readonly #cut: Uint32Array;
  /** By source: no row of it comes before this place. */
  readonly #outset: Float64Array;
  /** By source, the offset of the next slice's end, or of its beginning where rows come from the last one on. */
  readonly #bounds: Float64Array;
  /** A whole number of places. */
  #width: number;
  readonly #sliceRows: number;
  /** What was handed out last. */
  readonly #taken: Pick<Runs, 'source' | 'series' | 'from' | 'to'>;

  constructor(options: {
    readonly runs: Runs;
    readonly loaded: readonly LoadedRows[];
    readonly scale: TimeScale;
    readonly isDescending: boolean;
    /** The first slice has about so many rows. */
    readonly firstRows: number;
    /** About so many rows have the others. */
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
    this.#taken = {
      source: new Uint32Array(runs.from.length),
      series: new Uint32Array(runs.from.length),
      from: new Uint32Array(runs.from.length),
      to: new Uint32Array(runs.from.length),
    };
    this.#sliceRows = options.sliceRows ?? SLICE_ROWS;
    const { starts, factors } = scale;
    this.#bounds = new Float64Array(starts.length);
    this.#outset = starts.map((start, source) => {
      const { minOffset, maxOffset } = (loaded[source] as LoadedRows).part;
      const offset = options.isDescending ? maxOffset : minOffset;
      return start + offset * (factors[source] as number);
    });
    // As if rows were spread evenly.
    const share = Math.min(options.firstRows, this.#sliceRows) / Math.max(1, runs.rowCount);
    this.#width = Math.max(1, Math.floor(scale.lastPlace * share));
  }

  /** `undefined`: there are no more. */
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
    this.#width = Math.max(1, Math.min(this.#scale.lastPlace + 1, width));
    return this.#take(count);
  }

  /** The place of the first row that is left. */
  #edge(): number | undefined {
    const { source } = this.#runs;
    const { starts, factors } = this.#scale;
    const sign = this.#isDescending ? -1 : 1;
    let edge = Number.POSITIVE_INFINITY;
    for (let run = 0; run < source.length; run++) {
      const [from, to] = [this.#from[run] as number, this.#to[run] as number];
      const at = source[run] as number;
      // No row of the source comes before that.
      if (from === to || sign * (this.#outset[at] as number) >= edge) continue;
      const { offsets } = (this.#loaded[at] as LoadedRows).part;
      const offset = offsets[this.#isDescending ? to - 1 : from] as number;
      const place = sign * ((starts[at] as number) + offset * (factors[at] as number));
      if (place < edge) edge = place;
    }
    return edge === Number.POSITIVE_INFINITY ? undefined : sign * edge;
  }

  /** Looks for the rows that are nearer to `edge` than the width of a slice. @returns how many they are. */
  #cutAt(edge: number): number {
    const { source } = this.#runs;
    // Places beyond the scale may be no exact doubles.
    const bound = this.#isDescending
      ? Math.max(0, edge - this.#width + 1)
      : Math.min(this.#scale.lastPlace + 1, edge + this.#width);
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

  /** Finds for each source the first offset that is not before `place`. */
  #bound(place: number): void {
    const { starts, factors } = this.#scale;
    for (let source = 0; source < starts.length; source++) {
      const [start, factor] = [starts[source] as number, factors[source] as number];
      const outset = this.#outset[source] as number;
      if (this.#isDescending ? outset < place : outset >= place) {
        this.#bounds[source] = NOT_YET;
        continue;
      }
      let offset = Math.max(0, Math.ceil((place - start) / factor));
      // The division may be rounded; this is exact.
      while (offset > 0 && start + (offset - 1) * factor >= place) offset--;
      while (start + offset * factor < place) offset++;
      this.#bounds[source] = offset;
    }
  }

  #take(count: number): Runs {
    const { source, series } = this.#runs;
    const left = this.#isDescending ? this.#to : this.#from;
    const taken = this.#taken;
    let size = 0;
    let longest = 0;
    for (let run = 0; run < source.length; run++) {
      const cut = this.#cut[run] as number;
      const from = this.#isDescending ? cut : (this.#from[run] as number);
      const to = this.#isDescending ? (this.#to[run] as number) : cut;
      if (from >= to) continue;
      taken.source[size] = source[run] as number;
      taken.series[size] = series[run] as number;
      taken.from[size] = from;
      taken.to[size] = to;
      size++;
      if (to - from > longest) longest = to - from;
      left[run] = cut;
    }
    return {
      source: taken.source.subarray(0, size),
      series: taken.series.subarray(0, size),
      from: taken.from.subarray(0, size),
      to: taken.to.subarray(0, size),
      rowCount: count,
      longest,
    };
  }
}
