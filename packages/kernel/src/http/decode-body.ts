import { EncodingUnacceptable } from './body-errors.js';
import { gunzipBounded } from './gunzip.js';

/** Compared exactly, letter case included. Throws `EncodingUnacceptable`. */
export function encodingOf(header: string | undefined): 'identity' | 'gzip' {
  if (header === undefined || header === 'identity') return 'identity';
  if (header === 'gzip') return 'gzip';
  throw new EncodingUnacceptable(header);
}

/**
 * A body as it was before it was encoded, within `limitBytes` again. Requests without a body may name any encoding.
 * Throws `EncodingUnacceptable`, `BodyTooLarge`, `GzipCorrupt`. Source: tsdb-http, "Transport and common behaviour", content encoding of requests.
 */
export function decodeBody(
  body: Uint8Array,
  encoding: string | undefined,
  limitBytes: number,
): Uint8Array | Promise<Uint8Array> {
  if (body.byteLength === 0 || encodingOf(encoding) === 'identity') return body;
  return gunzipBounded(body, limitBytes);
}
