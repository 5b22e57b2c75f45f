import { promisify } from 'node:util';
import { constants, gunzip, gzip, gzipSync } from 'node:zlib';

export type PayloadEncoding = 'plain' | 'gzip';

export interface EncodedPayload {
  readonly encoding: PayloadEncoding;
  readonly bytes: Uint8Array;
}

/** Below this size, compression costs more than it saves. */
const MIN_GZIP_SIZE_BYTES = 4096;
/** Up to this size, inline compression is faster than a round trip to the thread pool. */
const MAX_INLINE_SIZE_BYTES = 16 * 1024;

/**
 * Output chunk size for compression in the thread pool. With the default size, a payload of several
 * megabytes would need thousands of calls.
 */
const LARGE_CHUNK_BYTES = 1024 * 1024;
const OPTIONS = { level: constants.Z_BEST_SPEED };
const gzipInPool = promisify(gzip);
const gunzipInPool = promisify(gunzip);

/** Returns a promise only for large payloads, so that batches of small ones stay synchronous. */
export function encodePayload(payload: Uint8Array): EncodedPayload | Promise<EncodedPayload> {
  if (payload.length < MIN_GZIP_SIZE_BYTES) return { encoding: 'plain', bytes: payload };
  if (payload.length > MAX_INLINE_SIZE_BYTES) return encodeInPool(payload);
  return { encoding: 'gzip', bytes: gzipSync(payload, OPTIONS) };
}

async function encodeInPool(payload: Uint8Array): Promise<EncodedPayload> {
  return {
    encoding: 'gzip',
    bytes: await gzipInPool(payload, { ...OPTIONS, ...chunksFor(payload) }),
  };
}

/** Rejects when the stored bytes are corrupt. */
export async function decodePayload({ encoding, bytes }: EncodedPayload): Promise<Uint8Array> {
  return encoding === 'plain' ? bytes : await gunzipInPool(bytes, chunksFor(bytes));
}

const chunksFor = (bytes: Uint8Array): { readonly chunkSize?: number } =>
  bytes.length < LARGE_CHUNK_BYTES ? {} : { chunkSize: LARGE_CHUNK_BYTES };
