import { isUtf8 } from 'node:buffer';
import { type JsonBounds, refuseExcessiveJson } from './json-bounds.js';

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
