/** By code, what stands in a dictionary column; the same array as long as it is the same tag of the same table. */
export type Texts = readonly (string | undefined)[];

/** Bytes of series, made once and copied with every answer. */
export interface SeriesTexts {
  /** Where the text of a series stands in `words`; 0: it is not kept. */
  placeOf(series: number): number;
  /** At a place, the length of the text in bytes; then the text. Another array after a call of `keep`. */
  readonly words: Int32Array;
  /** There may be no room for it. */
  keep(series: number, text: Uint8Array): void;
}

/** Bytes of the tags of a table's series. */
export interface CachedTexts {
  /** `undefined`: there is no room for more. */
  of(columns: readonly Texts[], form: string): SeriesTexts | undefined;
}

/** Which series the rows of a chunk are of. */
export interface SeriesOfRows {
  /** Dense numbers. */
  readonly numbers: Uint32Array;
  readonly kept: CachedTexts;
}
