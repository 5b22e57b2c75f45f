import { gunzipBounded, refuseExcessiveJson } from '@plinth/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ContentTypeUnacceptable, EncodingUnacceptable, JsonInvalid } from '../errors.js';

const JSON_TYPE = /^application\/(?:[^\s;/+]+\+)*json\s*(?:;|$)/;
/** More than any request of this service needs. */
const MAX_DECODED_SIZE_BYTES = 1024 * 1024;
const MAX_VALUE_COUNT = 20_000;

/**
 * Bodies of this service are JSON or nothing. Endpoints without a body ignore one, whatever it says it is;
 * those with one use `requireJson`.
 */
export function installJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (!isJson(request) || body.length === 0) return undefined;
      const decoded = await decode(body, request.headers['content-encoding']);
      try {
        refuseExcessiveJson(decoded, { maxValueCount: MAX_VALUE_COUNT });
        return JSON.parse(Buffer.from(decoded).toString());
      } catch (error) {
        throw new JsonInvalid(error);
      }
    },
  );
}

/** Encodings are compared exactly, letter case included. */
async function decode(body: Buffer, encoding: string | undefined): Promise<Uint8Array> {
  if (encoding === undefined || encoding === 'identity') return body;
  if (encoding !== 'gzip') throw new EncodingUnacceptable({ encoding });
  return await gunzipBounded(body, MAX_DECODED_SIZE_BYTES);
}

/** For `preValidation`: a body that is not declared as JSON is refused before anyone reads it. */
export async function requireJson(request: FastifyRequest): Promise<void> {
  if (!isJson(request)) throw new ContentTypeUnacceptable();
}

function isJson(request: FastifyRequest): boolean {
  return JSON_TYPE.test(request.headers['content-type'] ?? '');
}
