import { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Turns } from '../../model/turns.js';
import type { RouteDeps } from '../deps.js';
import { FLIGHT_PATH } from './flight-front.js';

/**
 * Arrow Flight: the calls of a gRPC service are requests of HTTP/2 on the shared port. What they need is loaded with the
 * first of them. Source: tsdb-http, §20.
 */
export function registerFlightRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const beginnings = new Turns();
  // The body is a stream of messages, which the call reads itself.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.post<{ Params: { readonly method: string } }>(
    `${FLIGHT_PATH}/:method`,
    async (request, reply) => {
      const { raw: req } = request;
      const { raw: res } = reply;
      if (!isGrpc(request) || !isHttp2(req) || !(res instanceof Http2ServerResponse)) {
        return reply.code(415).type('text/plain; charset=utf-8').send(WRONG_PROTOCOL);
      }
      const [{ GrpcCall }, { serveFlight }, { toGrpcFailure }] = await Promise.all([
        import('../grpc/grpc-call.js'),
        import('./flight-service.js'),
        import('./to-status.js'),
      ]);
      takeOver(reply, res);
      const call = new GrpcCall({
        request: req,
        response: res,
        clock: deps.clock,
        maxMessageBytes: Math.min(MAX_MESSAGE_BYTES, deps.settings.max_request_size_bytes),
      });
      await call.serve(
        async () => {
          // A client may take back thousands of calls as soon as it has made them.
          await beginnings.next();
          call.signal.throwIfAborted();
          await serveFlight(request.params.method, call, deps);
        },
        (error) => toGrpcFailure(error, deps.log),
      );
      return reply;
    },
  );
}

/** What gRPC libraries take of a message unless told otherwise. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const WRONG_PROTOCOL = 'this path speaks gRPC: HTTP/2 and content-type application/grpc';

const isGrpc = ({ headers }: FastifyRequest): boolean =>
  /^application\/grpc(?:$|[+;])/.test(headers['content-type'] ?? '');

/** The router's types know only HTTP/1.1. */
const isHttp2 = (request: unknown): request is Http2ServerRequest =>
  request instanceof Http2ServerRequest;

/** From here on the call answers by itself; headers that hooks have set stay. */
function takeOver(reply: FastifyReply, response: Http2ServerResponse): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) response.setHeader(name, value);
  }
}
