/**
 * The values of a dictionary column by code. The same tag of the same table always has the same
 * array.
 */
export type DictionaryValues = readonly (string | undefined)[];

/** Tags of series that are already encoded for an output format, created once and copied into every result. */
export interface EncodedTags {
  /** Returns the offset of a series' tags in `words`; 0 if it is not stored. */
  offsetOf(series: number): number;
  /**
   * At each offset, the length of the tags in bytes, followed by the tags. `store` can replace the
   * array.
   */
  readonly words: Int32Array;
  /** Stores the tags of a series, unless the memory limit is reached. */
  store(series: number, text: Uint8Array): void;
}

/** Cached encodings of the tags of a table's series. */
export interface EncodedTagsCache {
  /** Returns `undefined` if the memory limit is reached. */
  of(columns: readonly DictionaryValues[], separatorsKey: string): EncodedTags | undefined;
}

/** The series of each row of a chunk. */
export interface SeriesOfRows {
  /** Ordinal of each row's series. */
  readonly ordinals: Uint32Array;
  readonly encodedTags: EncodedTagsCache;
}
