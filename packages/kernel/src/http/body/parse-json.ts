import { isUtf8 } from 'node:buffer';
import { type RequestError, requestError } from '../request-error.js';
import { type JsonBounds, JsonExcessive, refuseExcessiveJson } from './json-bounds.js';

/**
 * Parses a JSON body. It must be UTF-8 and within `bounds`. Each API formats the errors itself. Throws `JsonExcessive`
 * or `SyntaxError`.
 */
export function parseJson(body: Uint8Array, bounds?: JsonBounds): unknown {
  // Decoding would silently insert replacement characters.
  if (!isUtf8(body)) throw new SyntaxError('the body is not valid UTF-8');
  refuseExcessiveJson(body, bounds);
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
}

/** Converts an error of `parseJson` or `refuseExcessiveJson` to a request error. */
export function jsonUnreadable(error: unknown): RequestError<'json_unreadable'> {
  const reason = error instanceof JsonExcessive ? { excess: error.message } : 'not_json';
  return requestError('json_unreadable', reason);
}
