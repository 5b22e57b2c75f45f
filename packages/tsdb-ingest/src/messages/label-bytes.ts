import { LineRefused } from '../slow-path/line-refused.js';
import { BYTES, tagOf } from './proto-cursor.js';

/** Label messages of a series, one after the other: `bytes[start .. end)`. */
export interface SeriesKey {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly start: number;
  readonly end: number;
}

/** First byte of each label in a series key: the Protocol Buffers tag of field 1 of Prometheus' `TimeSeries`. */
export const LABEL_FIELD_BYTE = tagOf(1, BYTES);
/** First bytes of name and value in a label: the tags of its fields 1 and 2. */
export const NAME_FIELD_BYTE = tagOf(1, BYTES);
export const VALUE_FIELD_BYTE = tagOf(2, BYTES);
/** Maximum size of all labels of a series, with their names. */
export const MAX_LABELS_BYTES = 65_536;
/**
 * Maximum size of all composed keys of a body. A few bytes can refer to long labels, so without a
 * limit the server might process many times the size of the body.
 */
const MAX_COMPOSED_BYTES = 256 * 1024 * 1024;

export const wholeKey = (bytes: Uint8Array): SeriesKey => ({
  bytes,
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  start: 0,
  end: bytes.length,
});

/** Limits the composed keys of a body. */
export class KeyBudget {
  readonly #noun: string;
  #composedBytes = 0;

  /** @param noun the protocol's term for a label */
  constructor(noun: string) {
    this.#noun = noun;
  }

  /** Throws `LineRefused`. */
  take(size: number): void {
    this.#composedBytes += size;
    if (this.#composedBytes > MAX_COMPOSED_BYTES)
      throw new LineRefused(
        `the ${this.#noun}s of the request exceed ${MAX_COMPOSED_BYTES / 1024 ** 2} MiB in total; send smaller requests`,
        {
          reason: 'limit',
        },
      );
  }
}

/** Writes the size of a field. @returns the position after it. */
export function putSize(bytes: Uint8Array, start: number, size: number): number {
  let at = start;
  let rest = size;
  for (; rest >= 0x80; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}

/** Bytes that `putSize` writes. */
export function sizeOfSize(size: number): number {
  let count = 1;
  for (let rest = size; rest >= 0x80; rest >>>= 7) count++;
  return count;
}
