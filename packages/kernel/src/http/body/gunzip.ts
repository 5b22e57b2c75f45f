import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { requestError } from '../request-error.js';

/** Up to this size, decoding inline is faster than a round trip to the thread pool. */
const MAX_INLINE_SIZE_BYTES = 16 * 1024;

const gunzipInPool = promisify(gunzip);

/**
 * Decodes a gzip body. The contents of concatenated members are joined. Never produces more than `limitBytes`.
 * @throws `body_too_large` `gzip_corrupt`
 */
export async function gunzipBounded(body: Uint8Array, limitBytes: number): Promise<Uint8Array> {
  // zlib does not accept a limit of 0. A limit of n accepts exactly n bytes.
  const options = { maxOutputLength: Math.max(1, limitBytes) };
  try {
    if (body.length <= MAX_INLINE_SIZE_BYTES) return gunzipSync(body, options);
    return await gunzipInPool(body, options);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
      throw requestError('body_too_large', { limitBytes });
    }
    throw requestError('gzip_corrupt', error.message, error);
  }
}
