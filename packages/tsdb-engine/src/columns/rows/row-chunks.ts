import type { Column } from '@plinth/tsdb-model/columns/column.js';
import type { EncodedTagsCache } from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { ColumnVector, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { SeriesIndex } from '../../series/series-index.js';
import { isSet, type StoredColumn } from '../cache/part.js';
import type { LoadedRows } from '../load/loaded-rows.js';
import { SpareMemory } from './spare-memory.js';
import { type ChunkTags, TagsByValue, TagsOfSeries } from './tag-vectors.js';

const TWO_32 = 2 ** 32;

/**
 * Rows of parts in result order: row `rows[i]` of `loaded[sources[i]]`, of the series `series[i]`.
 */
export interface PickedRows {
  readonly sources: Uint16Array;
  readonly rows: Uint32Array;
  readonly series: Uint32Array;
}

/** The picked rows `[from, to)`, in chunks of at most `chunkRows`. */
interface CutRange {
  readonly from: number;
  readonly to: number;
  readonly chunkRows: number;
}

/** Rows `[from, to)`, with the memory for their values. */
interface ChunkRange {
  readonly from: number;
  readonly to: number;
  take(sizeBytes: number): ArrayBuffer;
}

/** Builds column chunks from picked rows. */
export class RowChunks {
  readonly #loaded: readonly LoadedRows[];
  readonly #columns: readonly Column[];
  readonly #tags: ChunkTags;
  readonly #encodedTags: EncodedTagsCache | undefined;
  /** Stored columns by field and source. */
  readonly #stored = new Map<Column, readonly (StoredColumn | undefined)[]>();
  readonly #spare = new SpareMemory();
  readonly #baseLow: readonly number[];
  readonly #baseHigh: readonly number[];

  constructor(options: {
    readonly loaded: readonly LoadedRows[];
    readonly columns: readonly Column[];
    readonly index: SeriesIndex;
    /**
     * `series`: dictionaries with the tags of the result's series, for many rows per series or for
     * a small fraction of the series. `value`: the dictionaries of the table, which contain all
     * values of a tag.
     */
    readonly tagsBy: 'series' | 'value';
    /** Cache of tag strings between results. */
    readonly encodedTags?: EncodedTagsCache;
  }) {
    const { loaded, columns, index } = options;
    this.#loaded = loaded;
    this.#columns = columns;
    this.#encodedTags = options.encodedTags;
    this.#baseLow = loaded.map(({ part }) => Number(BigInt.asUintN(32, part.baseNs)));
    this.#baseHigh = loaded.map(({ part }) => Number(part.baseNs >> 32n));
    const tags = columns.flatMap(({ kind, name }) => (kind === 'tag' ? [name] : []));
    this.#tags =
      options.tagsBy === 'series' ? new TagsOfSeries(index, tags) : new TagsByValue(index, tags);
  }

  /** Some of the picked rows; a single chunk is built immediately. */
  of(picked: PickedRows, range: CutRange): Iterable<ResultChunk> {
    const { from, to, chunkRows } = range;
    if (to - from > chunkRows) return this.#many(picked, range);
    return from < to ? [this.#chunk(picked, from, to)] : [];
  }

  *#many(picked: PickedRows, range: CutRange): Generator<ResultChunk, void, undefined> {
    for (let { from } = range; from < range.to; from += range.chunkRows)
      yield this.#chunk(picked, from, Math.min(range.to, from + range.chunkRows));
  }

  #chunk(picked: PickedRows, from: number, to: number): ResultChunk {
    const numbers = picked.series.subarray(from, to);
    const tags = this.#tags.of(numbers);
    const { take, release } = this.#spare.forChunk();
    const range = { from, to, take };
    return {
      rowCount: to - from,
      series:
        this.#encodedTags === undefined
          ? undefined
          : { ordinals: numbers, encodedTags: this.#encodedTags },
      columns: this.#columns.map((column): ColumnVector => {
        // the map contains all tags
        if (column.kind === 'tag') return tags.get(column.name) as ColumnVector;
        return column.kind === 'time'
          ? this.#times(picked, range)
          : this.#field(column, picked, range);
      }),
      release,
    };
  }

  /** Computes timestamps in 32-bit halves: a bigint per row would dominate the cost. */
  #times({ sources, rows }: PickedRows, { from, to, take }: ChunkRange): ColumnVector {
    const values = new BigInt64Array(take((to - from) * 8), 0, to - from);
    const halves = new Int32Array(values.buffer);
    for (let i = from; i < to; i++) {
      const source = sources[i] as number;
      const { offsets, unitNs } = (this.#loaded[source] as LoadedRows).part;
      const distance = (offsets[rows[i] as number] as number) * unitNs;
      const far = Math.floor(distance / TWO_32);
      const low = (this.#baseLow[source] as number) + (distance - far * TWO_32);
      const at = (i - from) * 2;
      halves[at] = low % TWO_32;
      halves[at + 1] = (this.#baseHigh[source] as number) + far + (low >= TWO_32 ? 1 : 0);
    }
    return { values, validity: undefined };
  }

  #field(
    column: Column,
    { sources, rows }: PickedRows,
    { from, to, take }: ChunkRange,
  ): ColumnVector {
    const count = to - from;
    const values = new Float64Array(take(count * 8), 0, count);
    const bySource = this.#storedOf(column);
    if (bySource.every((stored) => stored !== undefined && stored.validity === undefined)) {
      for (let i = 0; i < count; i++) {
        const stored = bySource[sources[from + i] as number] as StoredColumn; // every source has the column
        values[i] = stored.values[rows[from + i] as number] as number;
      }
      return { values, validity: undefined };
    }
    const validity = new Uint8Array((count + 7) >> 3);
    let missing = 0;
    for (let i = 0; i < count; i++) {
      const stored = bySource[sources[from + i] as number];
      const row = rows[from + i] as number;
      if (stored === undefined || (stored.validity !== undefined && !isSet(stored.validity, row))) {
        missing++;
        continue;
      }
      values[i] = stored.values[row] as number;
      validity[i >> 3] = (validity[i >> 3] as number) | (1 << (i & 7));
    }
    return { values, validity: missing === 0 ? undefined : validity };
  }

  #storedOf(column: Column): readonly (StoredColumn | undefined)[] {
    let stored = this.#stored.get(column);
    if (stored === undefined) {
      stored = this.#loaded.map((rows) => rows.column(column.id));
      this.#stored.set(column, stored);
    }
    return stored;
  }
}
