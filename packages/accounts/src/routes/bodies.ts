import { isUtf8 } from 'node:buffer';
import { JsonExcessive, refuseExcessiveJson } from '@plinth/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AccountsRefused } from '../model/violation.js';
import { headerOf, type Incoming } from './incoming.js';

const JSON_TYPE = /^application\/(?:[^\s;/+]+\+)*json\s*(?:;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Far more than the fields of any request of a platform can hold. */
const MAX_VALUE_COUNT = 20_000;
/** Settings have lists of thousands, and a record with all of them may be sent back. */
export const MAX_OPERATOR_VALUE_COUNT = 200_000;

/** Bodies are read as bytes: what they are is decided when it is their turn. */
export function installBodies(app: FastifyInstance, limitBytes: number): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: limitBytes },
    (_request: FastifyRequest, body: Buffer, done: (error: null, body: Buffer) => void) =>
      done(null, body),
  );
}

/** The body as an object; an empty one is `{}`. Throws `unsupported_media_type` and `invalid_json`. */
export function readJson(
  request: Pick<Incoming, 'headers' | 'body'>,
  maxValueCount = MAX_VALUE_COUNT,
): Record<string, unknown> {
  refuseCoding(request);
  const type = headerOf(request, 'content-type');
  if (type !== undefined && type !== '' && !JSON_TYPE.test(type)) {
    const message = 'The body must be application/json.';
    throw new AccountsRefused({ code: 'unsupported_media_type', message });
  }
  return parseJson(request.body, maxValueCount);
}

/** Bodies of version 1 are forms or JSON. */
export function readFormOrJson(
  request: Pick<Incoming, 'headers' | 'body'>,
): Record<string, unknown> {
  const type = headerOf(request, 'content-type') ?? '';
  if (!FORM_TYPE.test(type)) return readJson(request);
  refuseCoding(request);
  const text = Buffer.isBuffer(request.body) ? request.body.toString() : '';
  return Object.fromEntries(new URLSearchParams(text));
}

/** Bodies are small; no client of this API compresses them. */
function refuseCoding(request: Pick<Incoming, 'headers'>): void {
  const coding = headerOf(request, 'content-encoding') ?? '';
  if (/^(identity)?$/i.test(coding)) return;
  const message = 'The body must not be compressed: Content-Encoding is not supported here.';
  throw new AccountsRefused({ code: 'unsupported_media_type', message });
}

function parseJson(body: unknown, maxValueCount: number): Record<string, unknown> {
  if (!Buffer.isBuffer(body) || body.length === 0) return {};
  let parsed: unknown;
  try {
    // Decoding would put a replacement character in the place of what was meant.
    if (!isUtf8(body)) throw new SyntaxError('not UTF-8');
    refuseExcessiveJson(body, { maxValueCount });
    parsed = JSON.parse(body.toString());
  } catch (error) {
    if (error instanceof JsonExcessive) {
      throw new AccountsRefused({ code: 'invalid_json', message: `The body is ${error.message}.` });
    }
    // The parser's own message quotes the body.
    throw new AccountsRefused({ code: 'invalid_json', message: 'The body is not valid JSON.' });
  }
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return parsed as Record<string, unknown>;
  }
  throw new AccountsRefused({ code: 'invalid_json', message: 'The body must be a JSON object.' });
}
