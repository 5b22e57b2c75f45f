import type { OutputColumn, ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { RowGroups } from '../../scan/group-slices.js';
import type { SeriesIndex } from '../../series/series-index.js';

const WHOLE_NUMBER = { kind: 'int', bits: 64, signed: true } as const;

/** Columns of DuckDB's result for `ScanGroups`. */
export const GROUP_COLUMNS: readonly OutputColumn[] = [
  { name: '_series', type: WHOLE_NUMBER, tableColumnKind: undefined },
  { name: 'n', type: WHOLE_NUMBER, tableColumnKind: undefined },
];

const FIRST_CAPACITY = 1024;

/** Groups as counted by DuckDB; 12 bytes each, because there may be a million. */
export class CountedGroups implements RowGroups {
  readonly tags: readonly string[];
  readonly #index: SeriesIndex;
  /** Series ordinal of one series per group. */
  #series = new Uint32Array(FIRST_CAPACITY);
  #rowCounts = new Float64Array(FIRST_CAPACITY);
  count = 0;
  rowCount = 0;

  constructor(tags: readonly string[], index: SeriesIndex) {
    this.tags = tags;
    this.#index = index;
  }

  add({ rowCount, columns: [series, counts] }: ResultChunk): void {
    const ids = series?.values as BigInt64Array; // the column types are those of `GROUP_COLUMNS`
    const words = new Int32Array(ids.buffer, ids.byteOffset, rowCount * 2);
    if (this.count + rowCount > this.#series.length) this.#grow(this.count + rowCount);
    for (let row = 0; row < rowCount; row++) {
      const low = words[row * 2] as number;
      const high = words[row * 2 + 1] as number;
      const rows = Number(counts?.values[row]);
      this.#series[this.count] = this.#index.ordinalOf(low, high);
      this.#rowCounts[this.count] = rows;
      this.count++;
      this.rowCount += rows;
    }
  }

  rowCountOf(group: number): number {
    return this.#rowCounts[group] ?? 0;
  }

  tagValuesOf(group: number): readonly string[] {
    const series = this.#series[group] ?? 0;
    return this.tags.map((tag) => this.#index.tagValue(series, tag) ?? '');
  }

  #grow(least: number): void {
    const capacity = Math.max(least, this.#series.length * 2);
    const [series, rowCounts] = [this.#series, this.#rowCounts];
    this.#series = new Uint32Array(capacity);
    this.#series.set(series);
    this.#rowCounts = new Float64Array(capacity);
    this.#rowCounts.set(rowCounts);
  }
}
