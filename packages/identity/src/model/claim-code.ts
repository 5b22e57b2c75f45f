import { createHash, timingSafeEqual } from 'node:crypto';
import type { Random } from '@plinth/kernel';

/** 32 characters, five bits each. Omits `0`, `1`, `l` and `o`, which are easily confused. */
const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789';
const GROUP_COUNT = 7;
const GROUP_LENGTH = 4;

/** Generates 140 random bits as seven groups of four characters, such as `k7mw-...`. */
export function makeClaimCode(random: Random): string {
  const bytes = random.bytes(GROUP_COUNT * GROUP_LENGTH);
  const text = Array.from(bytes, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return (text.match(/.{4}/g) ?? []).join('-');
}

/** Ignores case, spaces and dashes. Compares in constant time for equal lengths. */
export const isSameCode = (received: string, code: string): boolean =>
  timingSafeEqual(digestOf(received), digestOf(code));

const digestOf = (text: string): Buffer =>
  createHash('sha256').update(text.replaceAll(/[\s-]/g, '').toLowerCase()).digest();
