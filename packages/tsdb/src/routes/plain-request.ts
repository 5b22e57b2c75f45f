import type { IncomingHttpHeaders } from 'node:http';
import { BodyTooLarge, gunzipBounded, type PlainAnswer, type PlainRequest } from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { encodingOf } from './decode-body.js';
import type { RouteDeps } from './deps.js';
import { type Dialect, errorAnswer, sendAnswer, sendError } from './to-wire.js';

/** What a query looks at of its request; its body is decoded. */
export type QueryHttp = Pick<PlainRequest, 'method' | 'url' | 'headers' | 'body' | 'leaving'>;

const EMPTY = Buffer.alloc(0);

/** A route that answers queries, with the framework and without. May throw. */
export interface QueryRoute {
  readonly path: string;
  readonly dialect: Dialect;
  answer(request: QueryHttp): Promise<PlainAnswer>;
}

/** The framework's way to a route; its scope reads and decodes bodies. */
export function registerQueryRoute(app: FastifyInstance, route: QueryRoute, deps: RouteDeps): void {
  app.route({
    method: ['GET', 'POST'],
    url: route.path,
    errorHandler: (error, _request, reply) =>
      sendError(error, reply, { dialect: route.dialect, log: deps.log }),
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      sendAnswer(reply, await route.answer(queryHttpOf(request, reply)));
      return reply;
    },
  });
}

/** The way around the framework: what its scope does happens here. */
export function plainQueryRoute(
  { path, dialect, answer }: QueryRoute,
  { settings, log }: RouteDeps,
) {
  const decoded = async (request: QueryHttp): Promise<QueryHttp> => {
    const { body, headers } = request;
    const limitBytes = settings.max_request_size_bytes;
    if (body.byteLength > limitBytes) throw new BodyTooLarge({ limitBytes });
    if (body.byteLength === 0 || encodingOf(headers['content-encoding']) === 'identity')
      return request;
    return { ...request, body: await gunzipBounded(body, limitBytes) };
  };
  return {
    methods: ['GET', 'POST'],
    path,
    access: 'admin',
    front: 'server',
    async answer(request: PlainRequest): Promise<PlainAnswer> {
      try {
        return await answer(await decoded(request));
      } catch (error) {
        return errorAnswer(error, { dialect, log });
      }
    },
  } as const;
}

function queryHttpOf(request: FastifyRequest, reply: FastifyReply): QueryHttp {
  const { body, raw } = request;
  let signal: AbortSignal | undefined;
  return {
    method: request.method === 'POST' ? 'POST' : 'GET',
    url: raw.url ?? '',
    headers: { ...plainHeaders(request.headers), 'content-type': contentTypeOf(request) },
    body: body instanceof Uint8Array ? body : EMPTY,
    leaving() {
      signal ??= signalOf(reply);
      return signal;
    },
  };
}

/** Of the headers that Node joins none is an array but those of answers. */
export const plainHeaders = (headers: IncomingHttpHeaders): PlainRequest['headers'] =>
  headers as PlainRequest['headers'];

/** The header itself: the scope reads bodies of any type and hides it from the framework. */
function contentTypeOf({ raw: { rawHeaders } }: FastifyRequest): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === 'content-type') return rawHeaders[i + 1];
  }
  return undefined;
}

/** Aborted when the client goes away before it has the whole answer. */
export function signalOf({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!raw.writableFinished) controller.abort();
  };
  // It may be asked for late, by who found that it takes longer.
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return controller.signal;
}
