import { compareByteOrder } from '../../../model/byte-order.js';
import type { TagCodes } from '../series-index.js';

/** More values are compared as texts where they have to be: ranks of all would take longer. */
const MAX_RANKED = 65_536;
/** Ranks are made for so many values for each one that is asked about, at most. */
const VALUES_PER_GROUP = 8;

/** By tag, the ranks that were made; they go with the tag. */
const made = new WeakMap<TagCodes['values'], Int32Array>();

/**
 * By code, the place of a tag's value among all of them in the order of their bytes, from 1 on; `undefined`: not worth it for so
 * few groups. Values are only ever added, so ranks hold until there is another one.
 */
export function tagRanks({ values }: TagCodes, groupCount: number): Int32Array | undefined {
  const known = made.get(values);
  if (known?.length === values.length) return known;
  if (values.length > MAX_RANKED || values.length > groupCount * VALUES_PER_GROUP) return undefined;
  const codes = Array.from({ length: values.length - 1 }, (_, i) => i + 1);
  codes.sort((a, b) => compareByteOrder(values[a] as string, values[b] as string));
  const ranks = new Int32Array(values.length);
  codes.forEach((code, i) => {
    ranks[code] = i + 1;
  });
  made.set(values, ranks);
  return ranks;
}
