import { compareByteOrder } from '@plinth/tsdb-model/byte-order.js';
import type { SeriesOfRows } from '@plinth/tsdb-model/columns/encoded-tags.js';
import type { ColumnVector } from '@plinth/tsdb-model/columns/result.js';
import type { Value } from '../../plan/data-type.js';

/** Rows of one result series. A long series arrives in several consecutive pieces. */
export interface Series {
  readonly name: string;
  /** Values of the grouping tags, in their order. */
  readonly tags: readonly string[];
  readonly times: ArrayLike<bigint>;
  /** One array per field, in statement order. */
  readonly columns: readonly ArrayLike<Value>[];
}

/** Consecutive rows of several series with one name. A series may continue in the next block. */
export interface SeriesBlock {
  readonly name: string;
  readonly spans: readonly SeriesSpan[];
  readonly times: ArrayLike<bigint>;
  /** One array per field, created on first access. */
  readonly columns: readonly ArrayLike<Value>[];
  /** The vectors behind `columns`, if they are unchanged. */
  readonly vectors?: readonly (ColumnVector | undefined)[] | undefined;
  /** Series of the rows, if they are the unchanged result of a column query. */
  readonly series?: SeriesOfRows | undefined;
  /** True if each span contains its complete series, so that spans need not be compared. */
  readonly areSpansWhole?: boolean | undefined;
}

/** Properties of a block other than its columns. */
type BlockProperties = Omit<SeriesBlock, 'columns'>;

/**
 * A block whose columns are created on first access. It is a class because V8 retains the getters
 * of object literals, and everything they capture, until a major collection.
 */
export class LazyBlock implements SeriesBlock {
  readonly name: string;
  readonly spans: readonly SeriesSpan[];
  readonly times: ArrayLike<bigint>;
  readonly vectors: SeriesBlock['vectors'];
  readonly series: SeriesOfRows | undefined;
  readonly areSpansWhole: boolean;
  readonly #make: () => SeriesBlock['columns'];
  #columns: SeriesBlock['columns'] | undefined;

  constructor(properties: BlockProperties, make: () => SeriesBlock['columns']) {
    this.name = properties.name;
    this.spans = properties.spans;
    this.times = properties.times;
    this.vectors = properties.vectors;
    this.series = properties.series;
    this.areSpansWhole = properties.areSpansWhole ?? false;
    this.#make = make;
  }

  get columns(): SeriesBlock['columns'] {
    this.#columns ??= this.#make();
    return this.#columns;
  }
}

/** Rows `[from, to)`; at least one. */
export interface SeriesSpan {
  readonly tags: readonly string[];
  readonly from: number;
  readonly to: number;
}

export function isSameSeries(
  a: Pick<Series, 'name' | 'tags'>,
  b: Pick<Series, 'name' | 'tags'>,
): boolean {
  return a.name === b.name && areSameTags(a.tags, b.tags);
}

/**
 * Compares the tags of two series. A plain loop, because it runs for each of thousands of series.
 */
export function areSameTags(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function compareTags(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareByteOrder(a[i] ?? '', b[i] ?? '');
    if (order !== 0) return order;
  }
  return 0;
}
