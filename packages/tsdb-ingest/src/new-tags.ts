import { keyOrder, putSize } from '@plinth/tsdb-model/series/packed-tags.js';
import type { SeriesText } from './slow-path/line-refused.js';

/** Keys of a tag set, with their bytes in packed tags. */
export class TagKeySet {
  /** In line order. */
  readonly keys: readonly string[];
  /** Indexes of the keys in ascending order. */
  readonly order: readonly number[];
  /** By ascending key: its size and its bytes. */
  readonly heads: readonly Uint8Array[];

  constructor(keys: readonly string[]) {
    this.keys = keys;
    this.order = keyOrder(keys);
    this.heads = this.order.map((place) => sized(keys[place] as string));
  }
}

/** A tag set with values in `bytes`. Valid until the next one is parsed. */
export interface NewTags {
  readonly keySet: TagKeySet;
  readonly bytes: Uint8Array;
  /** Start and end of each value, by index of the key in the line. */
  readonly valueStarts: readonly number[];
  readonly valueEnds: readonly number[];
}

export function tagsOfText({ tagKeys, tagValues }: SeriesText): NewTags {
  const valueStarts: number[] = [];
  const valueEnds: number[] = [];
  let at = 0;
  for (const value of tagValues) {
    valueStarts.push(at);
    at += Buffer.byteLength(value);
    valueEnds.push(at);
  }
  const bytes = Buffer.from(tagValues.join(''));
  return { keySet: new TagKeySet(tagKeys), bytes, valueStarts, valueEnds };
}

function sized(key: string): Uint8Array {
  const bytes = Buffer.alloc(4 + Buffer.byteLength(key));
  bytes.write(key, 4);
  putSize(bytes, bytes.length - 4, 0);
  return bytes;
}
