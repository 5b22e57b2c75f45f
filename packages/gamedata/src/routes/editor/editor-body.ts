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

/** Limit for a single record. */
export const RECORD_BODY: BodyRule = { maxBytes: 256 * 1024 };

/**
 * Reads a large import into one buffer. Many small chunks, all alive until the last one, would
 * fragment the heap for the life of the process.
 */
export const importBody = (maxBytes: number): BodyRule => ({
  maxBytes,
  memory: {
    take: (sizeBytes) => Buffer.allocUnsafeSlow(sizeBytes),
    release() {},
    free() {},
  },
});

/** Throws `unsupported_media_type` for a body without a JSON content type. */
export function refuseOtherTypes({ headers }: Pick<HttpHead, 'headers'>): void {
  const type = headers['content-type'];
  if (type === undefined ? !hasBody(headers) : isJsonType(type)) return;
  throw gameDataError('unsupported_media_type', 'the content type must be application/json');
}

const hasBody = (headers: HttpHead['headers']): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/**
 * Parses a JSON object. Throws `unsupported_media_type`, `invalid_json` and `validation_failed`.
 */
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
      message: `invalid record: ${message}`,
      details: [fault],
    });
  }
  return value;
}

/** Rejects deep nesting before parsing, which would take a long time. */
function refuseDeep(bytes: Uint8Array): void {
  try {
    refuseExcessiveJson(bytes, { maxDepth: MAX_DEPTH });
  } catch {
    const fault = {
      path: '',
      code: 'too_deep',
      message: `the body is nested more than ${MAX_DEPTH} levels deep`,
    };
    throw gameDataError('validation_failed', {
      message: `the body is nested more than ${MAX_DEPTH} levels deep`,
      details: [fault],
    });
  }
}

/** Parses an optional JSON object; an absent body counts as an empty object. */
export function readOptionalObject(bytes: Uint8Array): Record<string, unknown> {
  return bytes.length === 0 ? {} : readObject(bytes);
}

export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) {
    throw gameDataError('invalid_json', 'the body is not valid UTF-8');
  }
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : '';
    throw gameDataError('invalid_json', `the body is not valid JSON: ${why}`);
  }
}
