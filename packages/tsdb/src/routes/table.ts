import {
  type ApiConventions,
  type HeaderList,
  type HttpHead,
  isDomainError,
  type Route,
  type RouteGroup,
  requestIdOf,
  withHeaders,
} from '@plinth/kernel';
import { BodyPool } from './body-pool.js';
import { cacheRoutes } from './configure/cache-routes.js';
import { conversionRoutes } from './configure/conversion-routes.js';
import { databaseRoutes } from './configure/database-routes.js';
import { renameRoutes } from './configure/rename-routes.js';
import { rollupRoutes } from './configure/rollup-routes.js';
import { tableRoutes } from './configure/table-routes.js';
import type { RouteDeps } from './deps.js';
import { FLIGHT_PATH, grpcConventions, type Identify } from './flight/flight-conventions.js';
import { flightRoute } from './flight/flight-route.js';
import { createTextFormats } from './formats/index.js';
import { PiecePool } from './formats/piece-pool.js';
import { icebergConventions } from './iceberg/iceberg-conventions.js';
import { icebergRoutes } from './iceberg/iceberg-routes.js';
import { nativeInfluxqlRoutes } from './influxql/native/native-query-route.js';
import { v1QueryRoutes } from './influxql/v1-query-route.js';
import { subscribeRoute } from './live/subscribe-route.js';
import { openTableRoutes } from './operator/open-table-routes.js';
import { pluginCodeRoutes } from './operator/plugin-code-routes.js';
import { queryLogRoutes } from './operator/query-log-routes.js';
import { savedQueryRoutes } from './operator/saved-query-routes.js';
import { schemaRoutes } from './operator/schema-routes.js';
import { storageRoutes } from './operator/storage-routes.js';
import { METRICS_GRPC_PATH, metricsGrpcRoute } from './otlp/metrics-grpc-route.js';
import { metricsRoute } from './otlp/metrics-route.js';
import { asStatus, otlpConventions } from './otlp/otlp-conventions.js';
import { packageRoutes } from './processing/package-routes.js';
import { pluginFileRoutes } from './processing/plugin-file-routes.js';
import { PROTECTION, pluginRequestRoutes } from './processing/plugin-request-routes.js';
import { pluginTestRoutes } from './processing/plugin-test-routes.js';
import { triggerRoutes } from './processing/trigger-routes.js';
import { remoteReadRoutes } from './prometheus/remote-read-routes.js';
import { remoteWriteRoutes } from './prometheus/remote-write-routes.js';
import { fluxRoutes } from './query/flux-routes.js';
import { queryRoutes } from './query/query-routes.js';
import { RouteBuilder } from './route-builder.js';
import { serviceRoutes } from './service-routes.js';
import { type ErrorWording, errorResponse, hasStatus } from './to-wire.js';
import { v2ManagementRoutes } from './v2/v2-routes.js';
import { versionHeaders } from './version-headers.js';
import { deleteRoute } from './write/delete-route.js';
import { writeRoute } from './write/write-route.js';

/** All routes of the service, grouped by error format. */
export function tsdbRouteGroups(
  given: Omit<RouteDeps, 'routeBuilder' | 'bodies' | 'formats' | 'pieces'>,
  http: {
    readonly conventions: ApiConventions;
    readonly operatorConventions: ApiConventions;
    readonly identify: Identify;
  },
): readonly RouteGroup[] {
  const deps: RouteDeps = {
    ...given,
    routeBuilder: new RouteBuilder(given.settings),
    bodies: new BodyPool(),
    formats: createTextFormats(),
    pieces: new PiecePool(),
  };
  const { conventions, identify } = http;
  const table = (wording: ErrorWording, routes: readonly Route[], headers: HeaderList = []) => ({
    conventions,
    api: 'tsdb',
    errorResponse(error: unknown, request: HttpHead) {
      const failures = { log: deps.log, requestId: requestIdOf(request.headers) };
      return withHeaders(errorResponse(error, { wording, ...failures }), headers);
    },
    routes,
  });
  const v2 = table('v2', v2ManagementRoutes(deps));
  const byCompat = deps.settings.compat === 'influxdb3' ? 'text' : 'native';
  return [
    table('native', [
      writeRoute(deps, 'native'),
      ...serviceRoutes(deps),
      ...triggerRoutes(deps),
      ...pluginTestRoutes(deps),
      ...pluginFileRoutes(deps),
      ...packageRoutes(deps),
    ]),
    table(
      'native',
      [
        writeRoute(deps, 'v1'),
        ...remoteWriteRoutes(deps),
        ...remoteReadRoutes(deps),
        ...v1QueryRoutes(deps),
      ],
      versionHeaders(deps.settings),
    ),
    table('v2', [writeRoute(deps, 'v2'), deleteRoute(deps), ...fluxRoutes(deps)]),
    {
      ...v2,
      // Errors of tokens belong to another service, whose API conventions format them.
      errorResponse: (error, request) =>
        isDomainError(error) && !hasStatus(error)
          ? conventions.errorResponse(error, request)
          : v2.errorResponse(error, request),
    },
    table(byCompat, [
      ...queryRoutes(deps),
      subscribeRoute(deps),
      ...nativeInfluxqlRoutes(deps),
      ...databaseRoutes(deps),
      ...tableRoutes(deps),
      ...renameRoutes(deps),
      ...conversionRoutes(deps),
      ...cacheRoutes(deps),
      ...rollupRoutes(deps),
    ]),
    table('native', pluginRequestRoutes(deps, conventions), PROTECTION),
    {
      conventions: http.operatorConventions,
      api: 'operator',
      routes: [
        ...schemaRoutes(deps.catalog, deps.facts),
        ...storageRoutes(deps.catalog, deps.facts, deps.storage),
        ...queryLogRoutes(deps.queryLog),
        ...savedQueryRoutes(deps.savedQueries),
        ...openTableRoutes(deps.catalog, deps.openTables),
        ...pluginCodeRoutes(deps.processing.engine.plugins),
      ],
    },
    {
      conventions: icebergConventions(conventions, identify),
      api: 'tsdb',
      routes: icebergRoutes(deps.openTables, deps),
    },
    {
      conventions: otlpConventions(conventions, identify),
      api: 'tsdb',
      errorResponse(error, request) {
        const failures = { log: deps.log, requestId: requestIdOf(request.headers) };
        return asStatus(errorResponse(error, { wording: 'native', ...failures }), {
          error,
          request,
        });
      },
      routes: [metricsRoute(deps)],
    },
    {
      conventions: grpcConventions(METRICS_GRPC_PATH, identify, deps.log),
      api: 'tsdb',
      routes: [metricsGrpcRoute(deps)],
    },
    {
      conventions: grpcConventions(FLIGHT_PATH, identify, deps.log),
      api: 'tsdb',
      routes: [flightRoute(deps)],
    },
  ];
}
