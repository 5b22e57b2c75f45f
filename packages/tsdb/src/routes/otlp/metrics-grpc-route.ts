import type { Route } from '@plinth/kernel';
import type { RouteDeps } from '../deps.js';
import { grpcRoute } from '../grpc/grpc-route.js';
import { GRPC, GrpcFailure } from '../grpc/grpc-status.js';
import { messageTarget } from '../write/message-write.js';
import { write } from '../write/write-route.js';
import { databaseOf, partialSuccessOf } from './metrics-route.js';
import { responseMessage } from './otlp-message.js';

export const METRICS_GRPC_PATH = '/opentelemetry.proto.collector.metrics.v1.MetricsService';

/**
 * OpenTelemetry metrics over OTLP/gRPC. Exporters retry after `UNAVAILABLE` and drop data after other
 * codes. Source: tsdb-http, "OpenTelemetry metrics".
 */
export const metricsGrpcRoute = (deps: RouteDeps): Route =>
  grpcRoute(deps, {
    path: METRICS_GRPC_PATH,
    about: { summary: 'Write metrics (OpenTelemetry, OTLP/gRPC)' },
    cost: { resource: 'tsdb_write' },
    async serve(method, call, { headers, principal, client }) {
      if (method !== 'Export')
        throw new GrpcFailure(GRPC.UNIMPLEMENTED, `unknown method "${method}"; use Export`);
      // A view of the call's buffer, which the parser must not detach.
      const body = Uint8Array.from(await call.message());
      const target = messageTarget('', databaseOf(headers));
      const format = { encoding: 'identity', format: 'otlp_metrics' } as const;
      const outcome = await write({ body, principal, client }, target, deps, format);
      await call.write([responseMessage(partialSuccessOf(outcome))]);
    },
  });
