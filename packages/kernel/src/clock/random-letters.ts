import type { Random } from './random.js';

/** Digits and letters in the order of their bytes, so that comparing texts of one length compares numbers. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Largest multiple of 62 that a byte can hold: what is above would favour the first letters. */
const FAIR_BYTE_COUNT = 248;

/** A text of `length` letters of `BASE62`, each as likely as any other: 5.95 bits of chance a letter. */
export function randomLetters(random: Random, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random.bytes(length)) {
      if (byte < FAIR_BYTE_COUNT && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}
