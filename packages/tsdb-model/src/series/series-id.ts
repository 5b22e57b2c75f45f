import type { PackedTags } from './packed-tags.js';

/** A 64-bit number as two 32-bit words. */
export interface Words {
  low: number;
  high: number;
}

/**
 * Computes the series id: 63 bits of MurmurHash3 (x86, 128-bit variant; public domain, Austin
 * Appleby) over the table's seed and the packed tags. All nodes compute the same id. Little-endian,
 * like every platform with Node releases.
 */
export function seriesId(seed: Words, { bytes, from, to }: PackedTags, target: Words): void {
  const size = SEED_SIZE + to - from;
  const padded = (size + 15) & ~15;
  if (scratch.length < padded) {
    scratch = new Uint8Array(padded * 2);
    scratchWords = new Int32Array(scratch.buffer);
  }
  scratchWords[0] = seed.low;
  scratchWords[1] = seed.high;
  for (let i = from, at = SEED_SIZE; i < to; i++, at++) scratch[at] = bytes[i] as number;
  for (let at = size; at < padded; at++) scratch[at] = 0;
  hash63(scratchWords, size, target);
}

const SEED_SIZE = 8;

/** Reused between calls; grows to the size of the longest tag set so far. */
let scratch = new Uint8Array(4096);
let scratchWords = new Int32Array(scratch.buffer);

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

/** @param words padded with zeros to a multiple of 16 bytes. @param size in bytes. */
function hash63(words: Int32Array, size: number, target: Words): void {
  let h1 = 0;
  let h2 = 0;
  let h3 = 0;
  let h4 = 0;
  const full = (size >> 4) << 2;
  for (let at = 0; at < full; at += 4) {
    h1 ^= Math.imul(rotateLeft(Math.imul(words[at] as number, C1), 15), C2);
    h1 = (Math.imul((rotateLeft(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotateLeft(Math.imul(words[at + 1] as number, C2), 16), C3);
    h2 = (Math.imul((rotateLeft(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotateLeft(Math.imul(words[at + 2] as number, C3), 17), C4);
    h3 = (Math.imul((rotateLeft(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotateLeft(Math.imul(words[at + 3] as number, C4), 18), C1);
    h4 = (Math.imul((rotateLeft(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  if (full * 4 < size) {
    h4 ^= Math.imul(rotateLeft(Math.imul(words[full + 3] as number, C4), 18), C1);
    h3 ^= Math.imul(rotateLeft(Math.imul(words[full + 2] as number, C3), 17), C4);
    h2 ^= Math.imul(rotateLeft(Math.imul(words[full + 1] as number, C2), 16), C3);
    h1 ^= Math.imul(rotateLeft(Math.imul(words[full] as number, C1), 15), C2);
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
  target.low = h1;
  target.high = h2 & 0x7fffffff;
}
