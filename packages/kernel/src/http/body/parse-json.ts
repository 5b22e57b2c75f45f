import { isUtf8 } from 'node:buffer';
import { type RequestError, requestError } from '../request-error.js';
import { type JsonBounds, JsonExcessive, refuseExcessiveJson } from './json-bounds.js';

/**
 * The value of a body that has to be JSON: UTF-8, and within `bounds` before it is parsed. Each API has its own words for what is
 * thrown. Throws `JsonExcessive`, `SyntaxError`.
 */
export function parseJson(body: Uint8Array, bounds?: JsonBounds): unknown {
  // Decoding would put a replacement character in the place of what was meant.
  if (!isUtf8(body)) throw new SyntaxError('the body is not UTF-8');
  refuseExcessiveJson(body, bounds);
  return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString());
}

/** What `parseJson` and `refuseExcessiveJson` threw, as the refusal of a request. */
export function jsonUnreadable(error: unknown): RequestError<'json_unreadable'> {
  const reason = error instanceof JsonExcessive ? { excess: error.message } : 'not_json';
  return requestError('json_unreadable', reason);
}
