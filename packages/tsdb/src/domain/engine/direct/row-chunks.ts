import type { Column } from '../../../model/column.js';
import { DictionaryVector } from '../../../model/dictionary-vector.js';
import type { ColumnVector, ResultChunk } from '../../../model/result.js';
import type { SeriesIndex } from '../series-index.js';
import { isSet, type StoredColumn } from './part.js';
import type { LoadedRows } from './table-columns.js';

const TWO_32 = 2 ** 32;

/** Rows of parts in the order of an answer: row `rows[i]` of `loaded[sources[i]]`, of the series `series[i]`. */
export interface PickedRows {
  readonly sources: Uint16Array;
  readonly rows: Uint32Array;
  readonly series: Uint32Array;
}

/** Makes chunks of columns from picked rows; texts of tags are made once per series of the answer. */
export class RowChunks {
  readonly #loaded: readonly LoadedRows[];
  readonly #columns: readonly Column[];
  readonly #index: SeriesIndex;
  /** Dense series number -> place in the texts of the answer. */
  readonly #codes = new Map<number, number>();
  readonly #texts = new Map<string, (string | undefined)[]>();
  readonly #baseLow: readonly number[];
  readonly #baseHigh: readonly number[];

  constructor(options: {
    readonly loaded: readonly LoadedRows[];
    readonly columns: readonly Column[];
    readonly index: SeriesIndex;
  }) {
    this.#loaded = options.loaded;
    this.#columns = options.columns;
    this.#index = options.index;
    this.#baseLow = options.loaded.map(({ part }) => Number(BigInt.asUintN(32, part.baseNs)));
    this.#baseHigh = options.loaded.map(({ part }) => Number(part.baseNs >> 32n));
    for (const column of options.columns)
      if (column.kind === 'tag') this.#texts.set(column.name, []);
  }

  /** Rows `[from, to)` of those that were picked. */
  chunk(picked: PickedRows, from: number, to: number): ResultChunk {
    const codes = this.#texts.size === 0 ? new Int32Array(0) : this.#codesOf(picked, from, to);
    return {
      rowCount: to - from,
      columns: this.#columns.map((column): ColumnVector => {
        const texts = this.#texts.get(column.name);
        if (texts !== undefined) return new DictionaryVector(codes, texts);
        return column.kind === 'time'
          ? this.#times(picked, from, to)
          : this.#field(column, picked, from, to);
      }),
    };
  }

  #codesOf({ series }: PickedRows, from: number, to: number): Int32Array {
    const codes = new Int32Array(to - from);
    for (let i = from; i < to; i++) {
      const dense = series[i] as number;
      let code = this.#codes.get(dense);
      if (code === undefined) {
        code = this.#codes.size;
        this.#codes.set(dense, code);
        for (const [tag, texts] of this.#texts) texts.push(this.#index.tagValue(dense, tag));
      }
      codes[i - from] = code;
    }
    return codes;
  }

  /** In halves of 32 bits: a big integer a row would cost more than all the rest. */
  #times({ sources, rows }: PickedRows, from: number, to: number): ColumnVector {
    const values = new BigInt64Array(to - from);
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

  #field(column: Column, { sources, rows }: PickedRows, from: number, to: number): ColumnVector {
    const values = new Float64Array(to - from);
    const validity = new Uint8Array((to - from + 7) >> 3);
    let missing = 0;
    let source = -1;
    let stored: StoredColumn | undefined;
    for (let i = from; i < to; i++) {
      if (sources[i] !== source) {
        source = sources[i] as number;
        stored = this.#loaded[source]?.column(column.id);
      }
      const row = rows[i] as number;
      if (stored === undefined || (stored.validity !== undefined && !isSet(stored.validity, row))) {
        missing++;
        continue;
      }
      const at = i - from;
      values[at] = stored.values[row] as number;
      validity[at >> 3] = (validity[at >> 3] as number) | (1 << (at & 7));
    }
    return { values, validity: missing === 0 ? undefined : validity };
  }
}
