import { EventLoopYielder, emptyAnswer, OpenApi, type Route, textAnswer } from '@plinth/kernel';
import { Type } from 'typebox';
import { accessOf } from '../../domain/catalog/access/database-access.js';
import type { RouteDeps } from '../deps.js';
import { FLIGHT_PATH } from './flight-dialect.js';
import { toGrpcFailure } from './to-status.js';

/** What gRPC libraries take of a message unless told otherwise. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const GRPC_TYPE = /^application\/grpc(?:$|[+;])/;
const WRONG_PROTOCOL = 'this path speaks gRPC: HTTP/2 and content-type application/grpc';

/**
 * Arrow Flight: the calls of a gRPC service are requests of HTTP/2 on the shared port, whose bodies they read themselves. What
 * they need is loaded with the first of them. Source: tsdb-http, §20.
 */
export function flightRoute(deps: RouteDeps): Route {
  const { clock, settings, log } = deps;
  const wording = settings.compat === 'influxdb3' ? 'text' : 'native';
  const beginnings = new EventLoopYielder();
  return {
    method: 'POST',
    path: `${FLIGHT_PATH}/:method`,
    access: 'granted',
    about: { summary: 'A call of Arrow Flight: gRPC over HTTP/2' },
    input: {
      body: Type.Unknown(),
      bodyType: 'application/grpc',
      validation: 'calls read their bodies themselves',
    },
    output: { 200: OpenApi.answer('messages, then a status of gRPC', { 'application/grpc': {} }) },
    errors: { 415: 'the request does not speak gRPC' },
    async handle({ httpVersion, headers, principal, parameters: { method = '' } }) {
      if (httpVersion !== 2 || !GRPC_TYPE.test(headers['content-type'] ?? ''))
        return textAnswer(415, WRONG_PROTOCOL);
      const [{ GrpcCall }, { serveFlight }] = await Promise.all([
        import('../grpc/grpc-call.js'),
        import('./flight-service.js'),
      ]);
      const access = accessOf(principal, deps.isAuthRequired);
      const maxMessageBytes = Math.min(MAX_MESSAGE_BYTES, settings.max_request_size_bytes);
      return {
        ...emptyAnswer(200),
        async takeOver(request, response) {
          const call = new GrpcCall({ request, response, clock, maxMessageBytes });
          await call.serve(
            async () => {
              // A client may take back thousands of calls as soon as it has made them.
              await beginnings.next();
              call.signal.throwIfAborted();
              await serveFlight(method, call, { ...deps, access });
            },
            (error) => toGrpcFailure(error, log, wording),
          );
        },
      };
    },
  };
}
