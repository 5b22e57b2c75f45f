import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ContentTypeUnacceptable, JsonInvalid } from '../errors.js';

const JSON_TYPE = /^application\/(?:[^\s;/+]+\+)*json\s*(?:;|$)/;

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
      try {
        return JSON.parse(body.toString());
      } catch (error) {
        throw new JsonInvalid(error);
      }
    },
  );
}

/** For `preValidation`: a body that is not declared as JSON is refused before anyone reads it. */
export async function requireJson(request: FastifyRequest): Promise<void> {
  if (!isJson(request)) throw new ContentTypeUnacceptable();
}

function isJson(request: FastifyRequest): boolean {
  return JSON_TYPE.test(request.headers['content-type'] ?? '');
}
