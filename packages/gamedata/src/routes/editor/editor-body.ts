import { isUtf8 } from 'node:buffer';
import {
  type BodyRule,
  type HttpHead,
  isJsonType,
  isObject,
  refuseExcessiveJson,
} from '@plinth/kernel';
import { gameDataError } from '../../errors.js';
import { findHiddenMember, pointerOf } from '../../model/json.js';
import { MAX_DEPTH } from '../../model/json-faults.js';

/** Of one record. */
export const RECORD_BODY: BodyRule = { maxBytes: 256 * 1024 };

/**
 * A large import comes into one piece of memory: its pieces would all lie in the heap of the allocator until the last one is
 * there, which keeps that room for the rest of the process's life.
 */
export const importBody = (maxBytes: number): BodyRule => ({
  maxBytes,
  memory: {
    take: (sizeBytes) => Buffer.allocUnsafeSlow(sizeBytes),
    release() {},
    free() {},
  },
});

/** Throws `unsupported_media_type` for a body that does not say that it is JSON. */
export function refuseOtherTypes({ headers }: Pick<HttpHead, 'headers'>): void {
  const type = headers['content-type'];
  if (type === undefined ? !hasBody(headers) : isJsonType(type)) return;
  throw gameDataError('unsupported_media_type', 'the body must be application/json');
}

const hasBody = (headers: HttpHead['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** One JSON object. Throws `unsupported_media_type`, `invalid_json` and `validation_failed`. */
export function readObject(bytes: Uint8Array): Record<string, unknown> {
  refuseDeep(bytes);
  const value = parseJson(bytes);
  if (!isObject(value)) {
    const fault = { path: '', code: 'type', message: 'the body must be an object' };
    throw gameDataError('validation_failed', {
      message: 'the body must be a JSON object',
      details: [fault],
    });
  }
  const hidden = findHiddenMember(value);
  if (hidden !== undefined) {
    const message = 'unknown member __proto__';
    const fault = { path: pointerOf([...hidden, '__proto__']), code: 'unknown_member', message };
    throw gameDataError('validation_failed', {
      message: `the record is not valid: ${message}`,
      details: [fault],
    });
  }
  return value;
}

/** Before it is parsed, which would take long. */
function refuseDeep(bytes: Uint8Array): void {
  try {
    refuseExcessiveJson(bytes, { maxDepth: MAX_DEPTH });
  } catch {
    const fault = { path: '', code: 'too_deep', message: `nested deeper than ${MAX_DEPTH}` };
    throw gameDataError('validation_failed', {
      message: `the body is nested deeper than ${MAX_DEPTH}`,
      details: [fault],
    });
  }
}

/** An absent body is an empty object. */
export function readOptionalObject(bytes: Uint8Array): Record<string, unknown> {
  return bytes.length === 0 ? {} : readObject(bytes);
}

export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) {
    throw gameDataError('invalid_json', 'the body is not UTF-8');
  }
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : '';
    throw gameDataError('invalid_json', `the body is not JSON: ${why}`);
  }
}
