import type { Readable } from 'node:stream';
import { gunzipBounded, refuseExcessiveJson } from '@plinth/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BodyRefused, ValidationFailed } from '../../errors.js';
import { findHiddenMember, isObject, pointerOf } from '../../model/json.js';
import { MAX_DEPTH } from '../../model/json-faults.js';

export const MAX_RECORD_SIZE_BYTES = 256 * 1024;
/** Nobody has asked who sends a body while it comes in: a length that is only announced gets no more memory than this. */
const FIRST_SIZE_BYTES = 1024 * 1024;

/** Bodies stay bytes until a handler has checked who sends them. Routes say how many they take. */
export function acceptJsonBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    /^application\/(?:[a-z0-9.-]+\+)?json(?:\s*;.*)?$/i,
    async (request: FastifyRequest, payload: Readable) =>
      await collectBytes(payload, {
        expectedBytes: Number(request.headers['content-length'] ?? 0),
        limitBytes: request.routeOptions.bodyLimit ?? MAX_RECORD_SIZE_BYTES,
      }),
  );
  app.addContentTypeParser('*', (_request, _payload, done) =>
    done(new BodyRefused('unsupported_media_type', 'the body must be application/json')),
  );
}

/**
 * Into one piece of memory, as large as was announced once the first of it has come: the pieces of a large import would all lie in the heap of the
 * allocator until the last one is there, which keeps that room for the rest of the process's life.
 */
async function collectBytes(
  payload: Readable,
  { expectedBytes, limitBytes }: { readonly expectedBytes: number; readonly limitBytes: number },
): Promise<Buffer> {
  const tooLarge = new BodyRefused('too_large', `the body has more than ${limitBytes} bytes`);
  if (expectedBytes > limitBytes) throw tooLarge;
  let bytes = Buffer.allocUnsafeSlow(Math.min(expectedBytes, FIRST_SIZE_BYTES));
  let end = 0;
  await new Promise<void>((resolve, reject) => {
    const finish = (error?: Error | null): void => {
      payload.off('data', take).off('end', finish).off('error', finish);
      if (error) reject(error);
      else resolve();
    };
    const take = (chunk: Buffer): void => {
      if (end + chunk.length > limitBytes) {
        finish(tooLarge);
        return;
      }
      if (end + chunk.length > bytes.length) {
        const neededBytes = Math.max(expectedBytes, 2 * bytes.length, end + chunk.length);
        const larger = Buffer.allocUnsafeSlow(neededBytes);
        bytes.copy(larger, 0, 0, end);
        bytes = larger;
      }
      end += chunk.copy(bytes, end);
    };
    payload.on('data', take).on('end', finish).on('error', finish);
  });
  return bytes.subarray(0, end);
}

export function bytesOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

/** As `bytesOf`, unpacked. */
export async function unpackedBytesOf(
  request: FastifyRequest,
  limitBytes: number,
): Promise<Buffer> {
  const bytes = bytesOf(request);
  const coding = request.headers['content-encoding'];
  if (coding === undefined || coding === 'identity') return bytes;
  if (coding !== 'gzip') {
    throw new BodyRefused('unsupported_media_type', 'the only coding of bodies is gzip');
  }
  try {
    return Buffer.from(await gunzipBounded(bytes, limitBytes));
  } catch (error) {
    const isTooLarge = error instanceof Error && error.name === 'BodyTooLarge';
    const message = error instanceof Error ? error.message : 'the body cannot be unpacked';
    throw new BodyRefused(isTooLarge ? 'too_large' : 'invalid_json', message);
  }
}

/** One JSON object. Throws `BodyRefused` and `ValidationFailed`. */
export function readObject(bytes: Buffer): Record<string, unknown> {
  refuseDeep(bytes);
  const value = parseJson(bytes);
  if (!isObject(value)) {
    const fault = { path: '', code: 'type', message: 'the body must be an object' };
    throw new ValidationFailed('the body must be a JSON object', [fault]);
  }
  const hidden = findHiddenMember(value);
  if (hidden !== undefined) {
    const message = 'unknown member __proto__';
    const fault = { path: pointerOf([...hidden, '__proto__']), code: 'unknown_member', message };
    throw new ValidationFailed(`the record is not valid: ${message}`, [fault]);
  }
  return value;
}

/** Before it is parsed, which would take long. */
function refuseDeep(bytes: Buffer): void {
  try {
    refuseExcessiveJson(bytes, { maxDepth: MAX_DEPTH });
  } catch {
    const fault = { path: '', code: 'too_deep', message: `nested deeper than ${MAX_DEPTH}` };
    throw new ValidationFailed(`the body is nested deeper than ${MAX_DEPTH}`, [fault]);
  }
}

/** An absent body is an empty object. */
export function readOptionalObject(bytes: Buffer): Record<string, unknown> {
  return bytes.length === 0 ? {} : readObject(bytes);
}

export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  if (text.includes('\ufffd') && !bytes.includes('\ufffd')) {
    throw new BodyRefused('invalid_json', 'the body is not UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : '';
    throw new BodyRefused('invalid_json', `the body is not JSON: ${why}`);
  }
}
