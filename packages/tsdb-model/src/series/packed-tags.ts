import { putText } from '../columns/put-text.js';

/**
 * A tag set as bytes in canonical form: tags in ascending key order, each key and value as 4-byte
 * little-endian length and UTF-8 bytes. Series ids are hashes of this form, and the log stores it.
 */
export interface PackedTags {
  readonly bytes: Uint8Array;
  /** The tag set is `bytes[from .. to)`. */
  readonly from: number;
  readonly to: number;
}

/** Returns the indexes of the keys in ascending order. */
export function keyOrder(keys: readonly string[]): readonly number[] {
  const places = keys.map((_, i) => i);
  return places.sort((a, b) => ((keys[a] as string) < (keys[b] as string) ? -1 : 1));
}

/**
 * Packs a tag set. The returned bytes are valid until the next call.
 * @param keys in ascending order.
 */
export function packTags(keys: readonly string[], values: readonly string[]): PackedTags {
  let worst = 0;
  for (let i = 0; i < keys.length; i++) {
    worst += 8 + 3 * ((keys[i] as string).length + (values[i] as string).length);
  }
  if (scratch.length < worst) scratch = Buffer.alloc(worst * 2);
  let to = 0;
  for (let i = 0; i < keys.length; i++) {
    to = putSizedText(keys[i] as string, to);
    to = putSizedText(values[i] as string, to);
  }
  return { bytes: scratch, from: 0, to };
}

/** Returns the values of a packed tag set, in the order of `keys`. */
export function unpackValues(keys: readonly string[], { bytes, from }: PackedTags): string[] {
  const values = new Array<string>(keys.length);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = from;
  for (const key of keyOrder(keys)) {
    at += 4 + readSize(bytes, at);
    const size = readSize(bytes, at);
    values[key] = buffer.toString('utf8', at + 4, at + 4 + size);
    at += 4 + size;
  }
  return values;
}

export function readSize(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
  return (low | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)) >>> 0;
}

export function putSize(bytes: Uint8Array, size: number, at: number): void {
  bytes[at] = size;
  bytes[at + 1] = size >>> 8;
  bytes[at + 2] = size >>> 16;
  bytes[at + 3] = size >>> 24;
}

/** Reused between calls; grows to the size of the longest tag set so far. */
let scratch = Buffer.alloc(4096);

function putSizedText(text: string, at: number): number {
  const size = putText(scratch, text, at + 4);
  putSize(scratch, size, at);
  return at + 4 + size;
}
