import { requestError } from '../request-error.js';
import { gunzipBounded } from './gunzip.js';
import { refuseOversize } from './read-body.js';

/** Returns the content encoding of a body. Names are case-sensitive. Throws `encoding_unacceptable`. */
export function encodingOf(header: string | undefined): 'identity' | 'gzip' {
  if (header === undefined || header === 'identity') return 'identity';
  if (header === 'gzip') return 'gzip';
  throw requestError('encoding_unacceptable', header);
}

/**
 * Decodes a body within `limitBytes`. Requests without a body may name any encoding.
 * Throws `encoding_unacceptable`, `body_too_large`, `gzip_corrupt`. Source: tsdb-http, "Transport and common behavior", content encoding of requests.
 */
export function decodeBody(
  body: Uint8Array,
  encoding: string | undefined,
  limitBytes: number,
): Uint8Array | Promise<Uint8Array> {
  refuseOversize(body.byteLength, limitBytes);
  if (body.byteLength === 0 || encodingOf(encoding) === 'identity') return body;
  return gunzipBounded(body, limitBytes);
}
