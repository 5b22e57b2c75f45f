import {
  EventLoopYielder,
  emptyAnswer,
  OpenApi,
  type Route,
  requestIdOf,
  textAnswer,
} from '@plinth/kernel';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { FLIGHT_PATH } from './flight-dialect.js';
import { toGrpcFailure } from './to-status.js';

/** Default message limit of gRPC libraries. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const GRPC_TYPE = /^application\/grpc(?:$|[+;])/;
const WRONG_PROTOCOL = 'this path requires gRPC: HTTP/2 and content-type application/grpc';

/**
 * The Arrow Flight route. gRPC calls are HTTP/2 requests on the shared port and read their own
 * bodies. Its modules are loaded on the first call. Source: tsdb-http, §20.
 */
export function flightRoute(deps: RouteDeps): Route {
  const { clock, settings, log } = deps;
  const wording = settings.compat === 'influxdb3' ? 'text' : 'native';
  const beginnings = new EventLoopYielder();
  return {
    method: 'POST',
    path: `${FLIGHT_PATH}/:method`,
    access: 'granted',
    about: { summary: 'Arrow Flight call (gRPC over HTTP/2)' },
    input: {
      body: Type.Unknown(),
      bodyType: 'application/grpc',
      validation: 'calls read their bodies themselves',
    },
    output: { 200: OpenApi.answer('gRPC messages, then a status', { 'application/grpc': {} }) },
    errors: { 415: 'the request is not a gRPC request' },
    async handle({ httpVersion, headers, principal, parameters: { method = '' } }) {
      if (httpVersion !== 2 || !GRPC_TYPE.test(headers['content-type'] ?? ''))
        return textAnswer(415, WRONG_PROTOCOL);
      const [{ GrpcCall }, { serveFlight }] = await Promise.all([
        import('../grpc/grpc-call.js'),
        import('./flight-service.js'),
      ]);
      const access = accessOf(principal, deps.isAuthRequired);
      const requestId = requestIdOf(headers);
      const maxMessageBytes = Math.min(MAX_MESSAGE_BYTES, settings.max_request_size_bytes);
      return {
        ...emptyAnswer(200),
        async takeOver(request, response) {
          const call = new GrpcCall({ request, response, clock, maxMessageBytes });
          await call.serve(
            async () => {
              // A client may cancel thousands of calls immediately after sending them, so yield
              // before each.
              await beginnings.next();
              call.signal.throwIfAborted();
              await serveFlight(method, call, { ...deps, access });
            },
            (error) => toGrpcFailure(error, { log, requestId }, wording),
          );
        },
      };
    },
  };
}
