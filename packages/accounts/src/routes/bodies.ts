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

/** Far more than the fields of any request of a platform can hold. */
const MAX_VALUE_COUNT = 20_000;
/** Settings have lists of thousands, and a record with all of them may be sent back. */
export const MAX_OPERATOR_VALUE_COUNT = 200_000;

/** Bodies stay bytes: what they are is decided when it is their turn, and none is decoded. */
export const bodyRule = (maxBytes: number): BodyRule => ({ maxBytes, isLeftEncoded: true });

/** The body as an object; an empty one is `{}`. Throws `unsupported_media_type` and `invalid_json`. */
export function readJson(
  request: BodyRequest,
  maxValueCount = MAX_VALUE_COUNT,
): Record<string, unknown> {
  refuseCoding(request);
  const type = request.headers['content-type'];
  if (type !== undefined && type !== '' && !isJsonType(type)) {
    const message = 'The body must be application/json.';
    throw new AccountsRefused({ code: 'unsupported_media_type', message });
  }
  return objectIn(request.body, maxValueCount);
}

/** Bodies of version 1 are forms or JSON. */
export function readFormOrJson(request: BodyRequest): Record<string, unknown> {
  const type = request.headers['content-type'] ?? '';
  if (!FORM_TYPE.test(type)) return readJson(request);
  refuseCoding(request);
  return Object.fromEntries(new URLSearchParams(textOf(request.body)));
}

/** Bodies are small; no client of this API compresses them. */
function refuseCoding(request: BodyRequest): void {
  const coding = request.headers['content-encoding'] ?? '';
  if (/^(identity)?$/i.test(coding)) return;
  const message = 'The body must not be compressed: Content-Encoding is not supported here.';
  throw new AccountsRefused({ code: 'unsupported_media_type', message });
}

function objectIn(body: Uint8Array, maxValueCount: number): Record<string, unknown> {
  if (body.length === 0) return {};
  let parsed: unknown;
  try {
    parsed = parseJson(body, { maxValueCount });
  } catch (error) {
    if (error instanceof JsonExcessive) {
      throw new AccountsRefused({ code: 'invalid_json', message: `The body is ${error.message}.` });
    }
    // The parser's own message quotes the body.
    throw new AccountsRefused({ code: 'invalid_json', message: 'The body is not valid JSON.' });
  }
  if (isObject(parsed)) return parsed;
  throw new AccountsRefused({ code: 'invalid_json', message: 'The body must be a JSON object.' });
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString();
