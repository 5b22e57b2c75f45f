import { putText } from './put-text.js';

/**
 * The series id: 63 bits of MurmurHash3 (x86, 128-bit variant; public domain, Austin Appleby) over the table's seed and
 * the canonical tag set: tags sorted by key, each key and value as 4-byte little-endian length and UTF-8 bytes.
 * Every node computes the same id. `salt` steps past a collision: it is added to the seed.
 */
export function seriesId(
  seed: bigint,
  salt: number,
  tagKeys: readonly string[],
  tagValues: readonly string[],
): bigint {
  let size = 8;
  const worst =
    8 +
    tagKeys.reduce(
      (sum, key, i) => sum + 8 + 3 * (key.length + (tagValues[i] as string).length),
      0,
    );
  if (scratch.length < worst) scratch = Buffer.alloc(worst * 2);
  scratch.writeBigUInt64LE(BigInt.asUintN(64, seed + BigInt(salt)), 0);
  for (let i = 0; i < tagKeys.length; i++) {
    size = putSizedText(tagKeys[i] as string, size);
    size = putSizedText(tagValues[i] as string, size);
  }
  return hash63(scratch, size);
}

/** Reused between calls; grows to the longest tag set seen. */
let scratch = Buffer.alloc(4096);

function putSizedText(text: string, at: number): number {
  const size = putText(scratch, text, at + 4);
  scratch.writeUInt32LE(size, at);
  return at + 4 + size;
}

const C1 = 0x239b961b;
const C2 = 0xab0e9789;
const C3 = 0x38b34ae5;
const C4 = 0xa1e38b93;

function rotateLeft(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

function finish(h: number): number {
  let x = h;
  x ^= x >>> 16;
  x = Math.imul(x, 0x85ebca6b);
  x ^= x >>> 13;
  x = Math.imul(x, 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/** Bytes past `size` must be readable; up to 15 of them are overwritten with zeros (the hash's padding). */
function hash63(data: Buffer, size: number): bigint {
  const padded = (size + 15) & ~15;
  const bytes =
    padded > data.length
      ? Buffer.concat([data.subarray(0, size)], padded)
      : data.fill(0, size, padded);
  let h1 = 0;
  let h2 = 0;
  let h3 = 0;
  let h4 = 0;
  const full = size & ~15;
  for (let at = 0; at < full; at += 16) {
    h1 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(at), C1), 15), C2);
    h1 = (Math.imul((rotateLeft(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(at + 4), C2), 16), C3);
    h2 = (Math.imul((rotateLeft(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(at + 8), C3), 17), C4);
    h3 = (Math.imul((rotateLeft(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(at + 12), C4), 18), C1);
    h4 = (Math.imul((rotateLeft(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  if (full < size) {
    h4 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(full + 12), C4), 18), C1);
    h3 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(full + 8), C3), 17), C4);
    h2 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(full + 4), C2), 16), C3);
    h1 ^= Math.imul(rotateLeft(Math.imul(bytes.readInt32LE(full), C1), 15), C2);
  }
  h1 ^= size;
  h2 ^= size;
  h3 ^= size;
  h4 ^= size;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = finish(h1);
  h2 = finish(h2);
  h3 = finish(h3);
  h4 = finish(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  return (BigInt(h2 & 0x7fffffff) << 32n) | BigInt(h1 >>> 0);
}
