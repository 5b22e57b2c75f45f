import type { Value } from '../plan/data-type.js';

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
  readonly spans: readonly SeriesSpan[];
  readonly times: ArrayLike<bigint>;
  /** One array a field. */
  readonly columns: readonly ArrayLike<Value>[];
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
  return a.name === b.name && a.tags.every((tag, i) => tag === b.tags[i]);
}
