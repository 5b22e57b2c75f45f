import { gunzipBounded } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PluginResponse } from '../../model/plugin-host.js';
import type { RouteDeps } from '../deps.js';
import { queryStringOf } from '../query-string.js';
import { sendError, sendFailure } from '../to-wire.js';

const PREFIX = '/api/v3/engine/';

/** What plugins must not see: credentials of this server. */
const WITHHELD_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/**
 * A page that a plugin wrote runs in a browser as if it came from a site of its own, so that it cannot act as the pages of
 * this server; and nothing is run that is not named as a program.
 */
const PROTECTION = {
  'content-security-policy': 'sandbox allow-scripts allow-forms',
  'x-content-type-options': 'nosniff',
};

/** Source: processing-engine, "Request arguments", "Request plugin responses". */
export function registerPluginRequestRoutes(app: FastifyInstance, deps: RouteDeps): void {
  app.route({
    method: ['GET', 'POST'],
    url: `${PREFIX}*`,
    exposeHeadRoute: false,
    errorHandler: (error, _request, reply) =>
      sendError(error, reply, { dialect: 'native', log: deps.log }),
    handler: async (request, reply) => {
      reply.headers(PROTECTION);
      const target = request.raw.url ?? '';
      const path = target.split('?', 1)[0]?.slice(PREFIX.length) ?? '';
      const answer = await deps.processing.engine.request(path, {
        query: Object.fromEntries(new URLSearchParams(queryStringOf(target) ?? '')),
        headers: headersOf(request),
        body: await bodyOf(request, deps.settings.max_request_size_bytes),
      });
      if (answer === undefined) sendFailure(reply, 404, { error: 'not found' });
      else if (answer === 'busy') {
        reply.header('retry-after', '1');
        sendFailure(reply, 503, { error: 'too many requests wait for this trigger', data: {} });
      } else send(answer, reply);
      return reply;
    },
  });
}

/** Names in lower case; of several with one name the last. */
function headersOf(request: FastifyRequest): Readonly<Record<string, string>> {
  const headers: Record<string, string> = Object.create(null);
  const { rawHeaders } = request.raw;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? '';
    if (name.startsWith(':') || WITHHELD_HEADERS.has(name)) continue;
    headers[name] = rawHeaders[i + 1] ?? '';
  }
  return headers;
}

async function bodyOf(request: FastifyRequest, limitBytes: number): Promise<Uint8Array> {
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array(0);
  return request.headers['content-encoding'] === 'gzip'
    ? await gunzipBounded(body, limitBytes)
    : body;
}

function send({ status, headers, body }: PluginResponse, reply: FastifyReply): void {
  reply.code(status);
  for (const [name, value] of headers) reply.header(name, value);
  // Whatever the plugin says of them.
  reply.headers(PROTECTION);
  reply.send(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
}
