import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import * as zlib from 'node:zlib';
import type { HttpHeaders } from '../http-request.js';
import { type HttpResponse, withHeaders } from '../http-response.js';
import { chooseCoding } from './choose-coding.js';

/** Smaller bodies do not benefit from compression. */
const LEAST_SIZE_BYTES = 1024;

/** Functions that the oldest supported Node version does not have. */
interface Zstd {
  createZstdCompress?(options: object): Transform;
}
const { createZstdCompress } = zlib as Zstd;

/** The fastest levels, as responses are compressed on the fly. Each piece is flushed. */
const CODERS = {
  zstd: () => createZstdCompress?.({ params: { 100: 1 }, flush: 1 }), // level 1; ZSTD_e_flush
  gzip: () => zlib.createGzip({ level: 1, flush: zlib.constants.Z_SYNC_FLUSH }),
} as const;
const CODINGS: readonly (keyof typeof CODERS)[] =
  createZstdCompress === undefined ? ['gzip'] : ['zstd', 'gzip'];

const gzip = promisify(zlib.gzip);

/** Compresses a successful response of at least 1 KiB in the coding that its client prefers. */
export async function encodeResponse(
  response: HttpResponse,
  headers: HttpHeaders,
): Promise<HttpResponse> {
  const { status, body, rest } = response;
  if (status !== 200 || body === undefined) return response;
  if (rest === undefined && body.length < LEAST_SIZE_BYTES) return response;
  const varying = withHeaders(response, [['vary', 'Accept-Encoding']]);
  const coding = chooseCoding(headers['accept-encoding'], CODINGS);
  if (coding === undefined || coding === 'identity') return varying;
  const coded = withHeaders(
    { ...varying, sizeBytes: undefined, rest: undefined, onPieceWritten: undefined },
    [['content-encoding', coding]],
  );
  if (rest === undefined && coding === 'gzip') {
    return { ...coded, body: await gzip(body, { level: 1 }) };
  }
  const coder = CODERS[coding]();
  if (coder === undefined) return varying;
  const pieces = through(coder, response);
  const first = await pieces.next();
  return { ...coded, body: first.done ? Buffer.alloc(0) : first.value, rest: pieces };
}

async function* through(
  coder: Transform,
  response: HttpResponse,
): AsyncGenerator<Buffer, void, undefined> {
  const feeding = feed(coder, response);
  try {
    for await (const piece of coder) yield piece;
  } finally {
    coder.destroy();
    await feeding;
  }
}

/** A coder that is destroyed while it waits for its reader never calls back, so `close` rejects. */
function put(piece: Buffer, coder: Transform): Promise<void> {
  return new Promise((resolve, reject) => {
    const onClose = (): void => reject(new Error('the client disconnected'));
    if (coder.destroyed) return onClose();
    coder.once('close', onClose);
    coder.write(piece, (error) => {
      coder.off('close', onClose);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Feeds a response to its coder. If the response fails, the coder is destroyed, which notifies its reader. */
async function feed(coder: Transform, { body, rest, onPieceWritten }: HttpResponse): Promise<void> {
  try {
    if (body !== undefined && body.length > 0) {
      await put(body, coder);
      onPieceWritten?.(body);
    }
    for await (const piece of rest ?? []) {
      await put(piece, coder);
      onPieceWritten?.(piece);
    }
    coder.end();
  } catch (error) {
    coder.destroy(error as Error);
  }
}
