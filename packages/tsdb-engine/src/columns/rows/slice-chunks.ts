import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { isSet, type StoredColumn } from '../cache/part.js';
import type { TimeScale } from '../groups/time-scale.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { TimeSorter } from '../load/time-sorter.js';
import type { Runs } from './runs.js';
import { SpareMemory } from './spare-memory.js';
import { TagsOfSeries } from './tag-vectors.js';

const TWO_32 = 2 ** 32;
/** Longer distances may not be exact doubles. */
const MAX_EXACT_NS = 2 ** 52;
/** Below this, copying values one by one is faster. */
const LEAST_COPIED = 16;

/** A field over the rows of a slice. */
interface SliceField {
  readonly stored: readonly (StoredColumn | undefined)[];
  /** True if a row may have no value. */
  readonly mayLack: boolean;
  values: Float64Array;
  /** Whether each row has a value; used only if some rows may have none. */
  present: Uint8Array;
}

/**
 * Builds chunks from time slices. It first copies the rows of a slice together: reading them in
 * time order from large columns misses the CPU cache at nearly every value.
 */
export class SliceChunks {
  readonly #loaded: readonly LoadedRows[];
  readonly #columns: readonly Column[];
  readonly #scale: TimeScale;
  readonly #sorter: TimeSorter;
  readonly #tags: TagsOfSeries;
  readonly #fields: ReadonlyMap<Column, SliceField>;
  readonly #spare = new SpareMemory();
  #ticks = new Float64Array(0);
  /** Tag code of each row's series. */
  #codes = new Int32Array(0);
  #order: Runs['from'] = new Uint32Array(0);

  constructor(options: {
    readonly loaded: readonly LoadedRows[];
    readonly columns: readonly Column[];
    readonly index: SeriesIndex;
    readonly scale: TimeScale;
    readonly isDescending: boolean;
  }) {
    const { loaded, columns, index } = options;
    this.#loaded = loaded;
    this.#columns = columns;
    this.#scale = options.scale;
    this.#sorter = new TimeSorter(options.isDescending);
    const tags = columns.flatMap(({ kind, name }) => (kind === 'tag' ? [name] : []));
    this.#tags = new TagsOfSeries(index, tags);
    const fields = columns.filter(({ kind }) => kind !== 'tag' && kind !== 'time');
    this.#fields = new Map(fields.map((field) => [field, sliceField(field, loaded)]));
  }

  /** Sets the slice from which chunks are built, until the next call. */
  take(slice: Runs): void {
    const { rowCount } = slice;
    if (rowCount > this.#ticks.length) this.#grow(rowCount);
    this.#takeTicks(slice);
    for (const field of this.#fields.values()) takeField(field, slice);
    this.#order = this.#sorter.sorted(this.#ticks, rowCount);
  }

  /** Returns the rows `[from, to)` of the slice in time order. */
  chunk(from: number, to: number): ResultChunk {
    const order = this.#order.subarray(from, to);
    const { take, release } = this.#spare.forChunk();
    const tags = this.#tagsOf(order, take);
    return {
      rowCount: order.length,
      columns: this.#columns.map((column): ColumnVector => {
        // the map contains all tags
        if (column.kind === 'tag') return tags.get(column.name) as ColumnVector;
        return column.kind === 'time'
          ? this.#times(order, take)
          : fieldVector(this.#fields.get(column) as SliceField, order, take); // the map contains all fields
      }),
      release,
    };
  }

  #takeTicks({ source, series, from, to }: Runs): void {
    const { starts, factors } = this.#scale;
    const [ticks, codes] = [this.#ticks, this.#codes];
    const hasTags = this.#columns.some(({ kind }) => kind === 'tag');
    let at = 0;
    for (let run = 0; run < source.length; run++) {
      const ofSource = source[run] as number;
      const { offsets } = (this.#loaded[ofSource] as LoadedRows).part;
      const start = starts[ofSource] as number;
      const factor = factors[ofSource] as number;
      const code = hasTags ? this.#tags.codeOf(series[run] as number) : 0;
      const end = to[run] as number;
      for (let row = from[run] as number; row < end; row++, at++) {
        ticks[at] = start + (offsets[row] as number) * factor;
        codes[at] = code;
      }
    }
  }

  /** Computes timestamps in 32-bit halves: a bigint per row would dominate the cost. */
  #times(order: Uint32Array, take: (sizeBytes: number) => ArrayBuffer): ColumnVector {
    const ticks = this.#ticks;
    const count = order.length;
    const buffer = take(count * 8);
    const halves = new Int32Array(buffer, 0, count * 2);
    const { baseNs, unitNs } = this.#scale;
    // Relative to the chunk's first row: the product of an absolute tick may not be an exact
    // double.
    const first = ticks[order[0] as number] as number;
    const firstNs = baseNs + BigInt(first) * unitNs;
    const firstLow = Number(BigInt.asUintN(32, firstNs));
    const firstHigh = Number(firstNs >> 32n);
    const unit = Number(unitNs);
    const last = ticks[order[count - 1] as number] as number;
    if (Math.abs(last - first) * unit > MAX_EXACT_NS) {
      const values = new BigInt64Array(buffer, 0, count);
      for (let i = 0; i < count; i++)
        values[i] = baseNs + BigInt(ticks[order[i] as number] as number) * unitNs;
      return { values, validity: undefined };
    }
    for (let i = 0; i < count; i++) {
      const distance = firstLow + ((ticks[order[i] as number] as number) - first) * unit;
      const far = Math.floor(distance / TWO_32);
      halves[i * 2] = distance - far * TWO_32;
      halves[i * 2 + 1] = firstHigh + far;
    }
    return { values: new BigInt64Array(buffer, 0, count), validity: undefined };
  }

  #tagsOf(
    order: Uint32Array,
    take: (sizeBytes: number) => ArrayBuffer,
  ): ReadonlyMap<string, ColumnVector> {
    if (!this.#columns.some(({ kind }) => kind === 'tag')) return new Map();
    const all = this.#codes;
    const codes = new Int32Array(take(order.length * 4), 0, order.length);
    for (let i = 0; i < order.length; i++) codes[i] = all[order[i] as number] as number;
    return this.#tags.vectors(codes);
  }

  #grow(rowCount: number): void {
    this.#ticks = new Float64Array(rowCount);
    this.#codes = new Int32Array(rowCount);
    for (const field of this.#fields.values()) {
      field.values = new Float64Array(rowCount);
      if (field.mayLack) field.present = new Uint8Array(rowCount);
    }
  }
}

function sliceField(column: Column, loaded: readonly LoadedRows[]): SliceField {
  const stored = loaded.map((rows) => rows.column(column.id));
  const mayLack = stored.some((each) => each === undefined || each.validity !== undefined);
  return { stored, mayLack, values: new Float64Array(0), present: new Uint8Array(0) };
}

function takeField({ stored, mayLack, values, present }: SliceField, slice: Runs): void {
  const { source, from, to } = slice;
  let at = 0;
  for (let run = 0; run < source.length; run++) {
    const [first, end] = [from[run] as number, to[run] as number];
    const of = stored[source[run] as number];
    const next = at + end - first;
    if (of === undefined) values.fill(0, at, next);
    else if (of.values instanceof Float64Array) copyDoubles(of.values, first, end, values, at);
    else for (let row = first, to = at; row < end; row++) values[to++] = of.values[row] as number;
    if (mayLack) {
      if (of?.validity === undefined) present.fill(of === undefined ? 0 : 1, at, next);
      else
        for (let row = first, to = at; row < end; row++)
          present[to++] = isSet(of.validity, row) ? 1 : 0;
    }
    at = next;
  }
}

/**
 * This is a separate function, because a loop that has seen several array types is slower for each
 * of them.
 */
function copyDoubles(
  from: Float64Array,
  first: number,
  end: number,
  to: Float64Array,
  at: number,
): void {
  if (end - first >= LEAST_COPIED) to.set(from.subarray(first, end), at);
  else for (let row = first, target = at; row < end; row++) to[target++] = from[row] as number;
}

function fieldVector(
  { values: all, mayLack, present }: SliceField,
  order: Uint32Array,
  take: (sizeBytes: number) => ArrayBuffer,
): ColumnVector {
  const count = order.length;
  const values = new Float64Array(take(count * 8), 0, count);
  for (let i = 0; i < count; i++) values[i] = all[order[i] as number] as number;
  if (!mayLack) return { values, validity: undefined };
  const validity = new Uint8Array((count + 7) >> 3);
  let missing = 0;
  for (let i = 0; i < count; i++) {
    const isPresent = present[order[i] as number] as number;
    missing += 1 - isPresent;
    validity[i >> 3] = (validity[i >> 3] as number) | (isPresent << (i & 7));
  }
  return { values, validity: missing === 0 ? undefined : validity };
}
