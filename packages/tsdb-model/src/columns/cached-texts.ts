/**
 * The values of a dictionary column by code. The same tag of the same table always has the same
 * array.
 */
export type Texts = readonly (string | undefined)[];

/** Encoded tags of series, created once and copied into every result. */
export interface SeriesTexts {
  /** Returns the index of a series' text in `words`; 0 if it is not stored. */
  placeOf(series: number): number;
  /**
   * At each index, the length of the text in bytes, followed by the text. `keep` can replace the
   * array.
   */
  readonly words: Int32Array;
  /** Stores the text of a series, unless the memory limit is reached. */
  keep(series: number, text: Uint8Array): void;
}

/** Cached encodings of the tags of a table's series. */
export interface CachedTexts {
  /** Returns `undefined` if the memory limit is reached. */
  of(columns: readonly Texts[], form: string): SeriesTexts | undefined;
}

/** The series of each row of a chunk. */
export interface SeriesOfRows {
  /** Consecutive series numbers, starting at 0. */
  readonly numbers: Uint32Array;
  readonly kept: CachedTexts;
}
