import {
  EventLoopYielder,
  emptyResponse,
  type HttpRequest,
  OpenApi,
  type Route,
  requestIdOf,
  textResponse,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { toGrpcFailure } from '../flight/to-status.js';
import type { GrpcCall } from './grpc-call.js';

/** Default message limit of gRPC libraries. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const GRPC_TYPE = /^application\/grpc(?:$|[+;])/;
const WRONG_PROTOCOL = 'this path requires gRPC: HTTP/2 and content-type application/grpc';

/**
 * The route of a gRPC service. Calls are HTTP/2 requests on the shared port and read their own
 * bodies. The modules for calls are loaded on the first call. Source: tsdb-http, §20.
 */
export function grpcRoute(
  { clock, settings, log }: RouteDeps,
  service: Pick<Route, 'about' | 'cost'> & {
    readonly path: string;
    /** Handles a call to `method`; response messages are sent with `call.write`. */
    serve(method: string, call: GrpcCall, request: HttpRequest): Promise<void>;
  },
): Route {
  const { path, about, cost, serve } = service;
  const wording = settings.compat === 'influxdb3' ? 'text' : 'native';
  const callStarts = new EventLoopYielder();
  return {
    method: 'POST',
    path: `${path}/:method`,
    access: 'granted',
    about,
    ...(cost !== undefined && { cost }),
    input: {
      body: Type.Unknown(),
      bodyType: 'application/grpc',
      validation: 'calls read their bodies themselves',
    },
    output: { 200: OpenApi.response('gRPC messages, then a status', { 'application/grpc': {} }) },
    errors: { 415: 'the request is not a gRPC request' },
    async handle(request) {
      const { httpVersion, headers, parameters } = request;
      if (httpVersion !== 2 || !GRPC_TYPE.test(headers['content-type'] ?? ''))
        return textResponse(415, WRONG_PROTOCOL);
      const { GrpcCall } = await import('./grpc-call.js');
      const requestId = requestIdOf(headers);
      const maxMessageBytes = Math.min(MAX_MESSAGE_BYTES, settings.max_request_size_bytes);
      return {
        ...emptyResponse(200),
        async takeOver(incoming, response) {
          const call = new GrpcCall({ request: incoming, response, clock, maxMessageBytes });
          await call.serve(
            async () => {
              // A client may cancel thousands of calls immediately after sending them, so yield
              // before each.
              await callStarts.next();
              call.signal.throwIfAborted();
              await serve(parameters['method'] ?? '', call, request);
            },
            (error) => toGrpcFailure(error, { log, requestId }, wording),
          );
        },
      };
    },
  };
}
