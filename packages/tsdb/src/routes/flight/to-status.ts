import { asOutage } from '@plinth/kernel';
import { GRPC, type GrpcCode, GrpcFailure } from '../grpc/grpc-status.js';
import { type FailureLog, logFailure } from '../log-failure.js';
import { type ErrorWording, hasStatus, statusOf } from '../to-wire.js';

/** gRPC codes by the HTTP statuses of the same errors. Source: tsdb-http, §20.2. */
const CODE: ReadonlyMap<number, GrpcCode> = new Map([
  [400, GRPC.INVALID_ARGUMENT],
  [401, GRPC.UNAUTHENTICATED],
  [403, GRPC.PERMISSION_DENIED],
  [404, GRPC.NOT_FOUND],
  [405, GRPC.UNIMPLEMENTED],
  [409, GRPC.ALREADY_EXISTS],
  [413, GRPC.RESOURCE_EXHAUSTED],
  [415, GRPC.INVALID_ARGUMENT],
  [422, GRPC.RESOURCE_EXHAUSTED],
  [503, GRPC.UNAVAILABLE],
]);

/**
 * Converts an error of a call to a gRPC status. Failures of the server are logged, and unexpected
 * errors are returned without details.
 */
export function toGrpcFailure(
  failure: unknown,
  failures: FailureLog,
  wording: ErrorWording = 'native',
): GrpcFailure {
  if (failure instanceof GrpcFailure) return failure;
  const error = asOutage(failure) ?? failure;
  if (!hasStatus(error)) {
    logFailure(error, 500, failures);
    return new GrpcFailure(GRPC.INTERNAL, 'internal error');
  }
  logFailure(error, statusOf(error, wording), failures);
  switch (error.kind) {
    case 'plan_error':
    case 'bucket_limit_exceeded':
      return new GrpcFailure(GRPC.INVALID_ARGUMENT, `Error while planning query: ${error.message}`);
    case 'query_timed_out':
      return new GrpcFailure(GRPC.DEADLINE_EXCEEDED, error.message);
    case 'query_cancelled':
      return new GrpcFailure(GRPC.CANCELLED, error.message);
    default:
      return new GrpcFailure(CODE.get(statusOf(error, wording)) ?? GRPC.INTERNAL, error.message);
  }
}
