import { type PackedTags, unpackValues } from './packed-tags.js';

/**
 * Tag sets that are new to a parser, in few memory blocks. One body can contain thousands of them,
 * and strings would be copied one by one between threads.
 */
export interface NewSeries {
  readonly count: number;
  /** Key lists, each in the order of a line. */
  readonly tagKeySets: readonly (readonly string[])[];
  /** By tag set, the index of its keys in `tagKeySets`. */
  readonly tagKeySetOf: Uint32Array;
  /** Packed tags of set i are `bytes[ends[i - 1] .. ends[i])`. */
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

/** A tag set in line order, unescaped; keys are distinct. */
export interface ParsedSeries {
  readonly tagKeys: readonly string[];
  readonly tagValues: readonly string[];
}

/** Returns the keys of tag set `place` in line order. Tag sets share their key lists. */
export function tagKeysAt(series: NewSeries, place: number): readonly string[] {
  // `tagKeySets` contains the keys of every tag set.
  return series.tagKeySets[series.tagKeySetOf[place] as number] as readonly string[];
}

export function packedTagsAt(series: NewSeries, place: number): PackedTags {
  const from = place === 0 ? 0 : (series.ends[place - 1] as number);
  return { bytes: series.bytes, from, to: series.ends[place] as number };
}

export function tagSetsOf(series: NewSeries | undefined): readonly ParsedSeries[] {
  if (series === undefined) return [];
  return Array.from({ length: series.count }, (_, place) => {
    const tagKeys = tagKeysAt(series, place);
    const tagValues = unpackValues(tagKeys, packedTagsAt(series, place));
    return { tagKeys, tagValues };
  });
}
