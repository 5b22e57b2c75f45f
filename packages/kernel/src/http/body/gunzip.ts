import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { requestError } from '../request-error.js';

/** Up to this size decoding in place is quicker than a round trip to the thread pool. */
const MAX_INLINE_SIZE_BYTES = 16 * 1024;

const gunzipInPool = promisify(gunzip);

/**
 * Decodes a gzip body; concatenated members give their contents one after the other. Never makes more than
 * `limitBytes`, whatever the compressed bytes promise.
 * @throws `body_too_large` `gzip_corrupt`
 */
export async function gunzipBounded(body: Uint8Array, limitBytes: number): Promise<Uint8Array> {
  // zlib takes no limit of 0, and a limit of n lets exactly n bytes pass.
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
