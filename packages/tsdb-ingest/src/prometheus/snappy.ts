import { requestError } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/** A longer length would not fit in 32 bits. */
const MAX_HEADER_BYTES = 5;
/** Literals and copies up to this size are copied in a loop, which is faster than a call. */
const SHORT_BYTES = 32;
const LITERAL = 0;
const COPY_1 = 1;
const COPY_2 = 2;
const TOO_MUCH = 'the data exceeds the size that the header declares';

interface Header {
  readonly sizeBytes: number;
  readonly end: number;
}

/** Returns the size of the decoded bytes according to the header. Throws `snappy_corrupt`. */
export const snappySize = (input: Uint8Array): number => readHeader(input).sizeBytes;

/**
 * Decodes one block in the Snappy block format. The output is allocated once, so a body cannot
 * expand beyond `limitBytes`. Throws `snappy_corrupt`, `body_too_large`. Source: Snappy,
 * `format_description.txt`.
 */
export function decodeSnappy(input: Uint8Array, limitBytes: number): Uint8Array<ArrayBuffer> {
  const { sizeBytes, end } = readHeader(input);
  if (sizeBytes > limitBytes) throw requestError('body_too_large', { limitBytes });
  // Without this check, a few bytes could make the server allocate the limit: a copy of 3 bytes
  // produces at most 64 bytes.
  if (sizeBytes > 32 * input.length)
    throw corrupt('the size in the header is more than 32 times the compressed size', 0);
  const output = new Uint8Array(sizeBytes);
  let at = end;
  let to = 0;
  while (at < input.length) {
    const tag = input[at] as number; // `at` is below the length
    const start = at++;
    const kind = tag & 3;
    if (kind === LITERAL) {
      let size = (tag >>> 2) + 1;
      if (size > 60) {
        const width = size - 60;
        size = littleEndian(input, at, width) + 1;
        at += width;
      }
      if (at + size > input.length)
        throw corrupt('a literal extends beyond the end of the body', start);
      if (to + size > sizeBytes) throw corrupt(TOO_MUCH, start);
      if (size > SHORT_BYTES) output.set(input.subarray(at, at + size), to);
      else for (let i = 0; i < size; i++) output[to + i] = input[at + i] as number;
      at += size;
      to += size;
      continue;
    }
    const width = kind === COPY_1 ? 1 : kind === COPY_2 ? 2 : 4;
    if (at + width > input.length)
      throw corrupt('a copy extends beyond the end of the body', start);
    const size = kind === COPY_1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = littleEndian(input, at, width) + (kind === COPY_1 ? (tag >>> 5) << 8 : 0);
    at += width;
    if (offset === 0 || offset > to) throw corrupt('a copy starts before the first byte', start);
    if (to + size > sizeBytes) throw corrupt(TOO_MUCH, start);
    // Source and target may overlap, which repeats the bytes between them.
    for (let i = 0; i < size; i++) output[to + i] = output[to + i - offset] as number;
    to += size;
  }
  if (to !== sizeBytes)
    throw corrupt(`the data has ${to} bytes, but the header declares ${sizeBytes}`, input.length);
  return output;
}

function readHeader(input: Uint8Array): Header {
  let sizeBytes = 0;
  for (let at = 0; at < Math.min(input.length, MAX_HEADER_BYTES); at++) {
    const byte = input[at] as number; // `at` is below the length
    sizeBytes += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return { sizeBytes, end: at + 1 };
  }
  throw corrupt('the header does not contain a valid size', 0);
}

function littleEndian(input: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let i = width - 1; i >= 0; i--) value = value * 256 + (input[at + i] ?? 0);
  return value;
}

function corrupt(why: string, index: number): Error {
  return tsdbError('snappy_corrupt', { why, index });
}
