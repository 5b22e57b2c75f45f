import { isUtf8 } from 'node:buffer';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/** Throws `body_not_utf8` with the index and size of the first invalid sequence. */
export function assertUtf8(body: Uint8Array): void {
  if (isUtf8(body)) return;
  for (let index = 0; index < body.length; ) {
    const sizeBytes = sequenceSize(body, index);
    if (sizeBytes < 0) throw tsdbError('body_not_utf8', { index, sizeBytes: -sizeBytes });
    index += sizeBytes;
  }
}

/** Returns the largest `end' <= end` that does not divide a character of valid UTF-8 `bytes`. */
export function characterBorder(bytes: Uint8Array, end: number): number {
  let border = end;
  while (border > 0 && border < bytes.length && isContinuation(bytes, border)) border--;
  return border;
}

/**
 * Returns the size of the character at `index`, or the negated size of the longest valid prefix (at
 * least 1).
 */
function sequenceSize(bytes: Uint8Array, index: number): number {
  const lead = byteAt(bytes, index);
  if (lead < 0x80) return 1;
  const size = lead >= 0xc2 && lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  if (!isSecondByte(lead, byteAt(bytes, index + 1))) return -1;
  for (let i = 2; i < size; i++) if (!isContinuation(bytes, index + i)) return -i;
  return size;
}

/** Excludes overlong forms, surrogates and code points above U+10FFFF. */
function isSecondByte(lead: number, second: number): boolean {
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

function isContinuation(bytes: Uint8Array, index: number): boolean {
  return (byteAt(bytes, index) & 0xc0) === 0x80;
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
