import {
  type BodyRule,
  type HttpRequest,
  isJsonType,
  isObject,
  JsonExcessive,
  parseJson,
} from '@plinth/kernel';
import { AccountsRefused } from '../model/violation.js';

type BodyRequest = Pick<HttpRequest, 'headers' | 'body'>;

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Maximum number of values in a platform request, far above the number in any valid request. */
const MAX_VALUE_COUNT = 20_000;
/**
 * Maximum number of values in an operator request. Settings have lists with thousands of values,
 * and clients may send back a complete record.
 */
export const MAX_OPERATOR_VALUE_COUNT = 200_000;

/** Bodies remain encoded; their content type is checked later, in the check order. */
export const bodyRule = (maxBytes: number): BodyRule => ({ maxBytes, isLeftEncoded: true });

/**
 * Parses the body as an object; an empty body is `{}`. Throws `unsupported_media_type` and
 * `invalid_json`.
 */
export function readJson(
  request: BodyRequest,
  maxValueCount = MAX_VALUE_COUNT,
): Record<string, unknown> {
  refuseCoding(request);
  const type = request.headers['content-type'];
  if (type !== undefined && type !== '' && !isJsonType(type)) {
    const message = 'The content type must be application/json.';
    throw new AccountsRefused({ code: 'unsupported_media_type', message });
  }
  return objectIn(request.body, maxValueCount);
}

/** Parses a version 1 body, which is a form or JSON. */
export function readFormOrJson(request: BodyRequest): Record<string, unknown> {
  const type = request.headers['content-type'] ?? '';
  if (!FORM_TYPE.test(type)) return readJson(request);
  refuseCoding(request);
  return Object.fromEntries(new URLSearchParams(textOf(request.body)));
}

/** Rejects compressed bodies. Bodies are small, and clients of this API do not compress them. */
function refuseCoding(request: BodyRequest): void {
  const coding = request.headers['content-encoding'] ?? '';
  if (/^(identity)?$/i.test(coding)) return;
  const message = 'The body must not be compressed: Content-Encoding is not supported.';
  throw new AccountsRefused({ code: 'unsupported_media_type', message });
}

function objectIn(body: Uint8Array, maxValueCount: number): Record<string, unknown> {
  if (body.length === 0) return {};
  let parsed: unknown;
  try {
    parsed = parseJson(body, { maxValueCount });
  } catch (error) {
    if (error instanceof JsonExcessive) {
      const verb = error.reason === 'too_deep' ? 'is' : 'contains';
      const message = `The body ${verb} ${error.message}.`;
      throw new AccountsRefused({ code: 'invalid_json', message });
    }
    // The parser's own message quotes the body.
    throw new AccountsRefused({ code: 'invalid_json', message: 'The body is not valid JSON.' });
  }
  if (isObject(parsed)) return parsed;
  throw new AccountsRefused({ code: 'invalid_json', message: 'The body must be a JSON object.' });
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();
