import {
  type ApiConventions,
  asOutage,
  emptyResponse,
  type HeaderList,
  type HttpHead,
  type HttpResponse,
  type Logger,
  type Principal,
  type RouteAccess,
} from '@plinth/kernel';
import { GRPC, type GrpcCode } from '../grpc/grpc-status.js';
import { toGrpcFailure } from './to-status.js';

export const FLIGHT_PATH = '/arrow.flight.protocol.FlightService';

/** Returns the principal of a request. Throws a domain error. */
export type Identify = (
  request: Pick<HttpHead, 'url' | 'headers' | 'socket' | 'client'>,
  access: RouteAccess | undefined,
) => Principal | Promise<Principal>;

/**
 * Formats errors before a call as gRPC status headers without a body.
 * Source: gRPC over HTTP/2, "Trailers-Only".
 */
export const grpcConventions = (path: string, identify: Identify, log: Logger): ApiConventions => ({
  service: 'tsdb',
  paths: [path],
  identify: ({ url, socket, client, headers }, access) =>
    identify({ url, socket, client, headers: withPadding(headers) }, access),
  // Every credential error is UNAUTHENTICATED. Source: tsdb-http, §20.
  errorResponse(error) {
    const outage = asOutage(error);
    if (outage !== undefined) {
      const retry = [['retry-after', String(outage.retryAfterSec)]] as const;
      return statusResponse(GRPC.UNAVAILABLE, outage.message, retry);
    }
    return error instanceof Error && 'kind' in error
      ? statusResponse(GRPC.UNAUTHENTICATED, error.message)
      : statusResponse(GRPC.INTERNAL, toGrpcFailure(error, { log }).message);
  },
  notFoundResponse: () => statusResponse(GRPC.UNIMPLEMENTED, 'unknown method'),
});

/**
 * Adds the base64 padding that the Go Flight client and the drivers based on it omit from Basic
 * credentials.
 */
function withPadding(headers: HttpHead['headers']): HttpHead['headers'] {
  const { authorization } = headers;
  if (authorization === undefined || !/^Basic [\w+/]+$/.test(authorization)) return headers;
  const { length } = authorization.slice('Basic '.length);
  const padded = authorization.padEnd(authorization.length + ((4 - (length % 4)) % 4), '=');
  return { ...headers, authorization: padded };
}

/** Sends headers and the end of the stream in one frame, as a Trailers-Only status requires. */
const statusResponse = (code: GrpcCode, message: string, headers: HeaderList = []): HttpResponse =>
  emptyResponse(200, [
    ...headers,
    ['content-type', 'application/grpc'],
    ['grpc-status', String(code)],
    ['grpc-message', message],
  ]);
