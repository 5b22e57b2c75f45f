import type { SeriesOfRows } from '../../../../model/columns/cached-texts.js';
import type { ColumnVector } from '../../../../model/columns/result.js';
import type { Value } from '../../plan/data-type.js';

/** Rows of one series of an answer; a long series comes in several pieces, one after the other. */
export interface Series {
  readonly name: string;
  /** Values of the grouping tags, in their order. */
  readonly tags: readonly string[];
  readonly times: ArrayLike<bigint>;
  /** One array a field, in the order of the statement. */
  readonly columns: readonly ArrayLike<Value>[];
}

/** Rows of several series of one name behind each other; one that goes on comes again in the next block. */
export interface SeriesBlock {
  readonly name: string;
  readonly spans: readonly SeriesSpan[];
  readonly times: ArrayLike<bigint>;
  /** One array a field; made when it is asked for. */
  readonly columns: readonly ArrayLike<Value>[];
  /** What stands in `columns`, where that was handed out as it is. */
  readonly vectors?: readonly (ColumnVector | undefined)[] | undefined;
  /** Of the rows, where they are rows of a table as they stand in memory. */
  readonly series?: SeriesOfRows | undefined;
  /** Each span is all that there is of its series: spans need not be compared. */
  readonly areSpansWhole?: boolean | undefined;
}

/** What a block is besides its columns. */
type BlockFacts = Omit<SeriesBlock, 'columns'>;

/**
 * A block whose columns are made when they are asked for. A class: the runtime keeps the getter of an object literal, and all
 * that it knows, until it collects its old memory.
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

  constructor(facts: BlockFacts, make: () => SeriesBlock['columns']) {
    this.name = facts.name;
    this.spans = facts.spans;
    this.times = facts.times;
    this.vectors = facts.vectors;
    this.series = facts.series;
    this.areSpansWhole = facts.areSpansWhole ?? false;
    this.#make = make;
  }

  get columns(): SeriesBlock['columns'] {
    this.#columns ??= this.#make();
    return this.#columns;
  }
}

/** The rows `[from, to)`, at least one. */
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

/** Of two series with the same tags. A loop: it is asked for each of thousands of series. */
export function areSameTags(a: readonly string[], b: readonly string[]): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
