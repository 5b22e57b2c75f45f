import { type PlainRoute, routesFor } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import { BodyPool } from './body-pool.js';
import { registerCacheRoutes } from './configure/cache-routes.js';
import { registerDatabaseRoutes } from './configure/database-routes.js';
import { registerTableRoutes } from './configure/table-routes.js';
import { installDecoding } from './decode-body.js';
import type { RouteDeps } from './deps.js';
import { registerFlightRoutes } from './flight/flight-routes.js';
import { createTextFormats } from './formats/index.js';
import { PiecePool } from './formats/piece-pool.js';
import { registerNativeInfluxqlRoutes } from './influxql/native-query-route.js';
import { registerV1QueryRoute } from './influxql/v1-query-route.js';
import { registerPackageRoutes } from './processing/package-routes.js';
import { registerPluginFileRoutes } from './processing/plugin-file-routes.js';
import { registerPluginRequestRoutes } from './processing/plugin-request-routes.js';
import { registerPluginTestRoutes } from './processing/plugin-test-routes.js';
import { registerTriggerRoutes } from './processing/trigger-routes.js';
import { registerQueryRoutes } from './query/query-routes.js';
import { installRawBody } from './read-body.js';
import { registerServiceRoutes } from './service-routes.js';
import { registerDeleteRoutes } from './write/delete-routes.js';
import { registerWriteRoutes, writeRoutes } from './write/write-routes.js';

/** All routes of the service, in the scope of Fastify that belongs to it. Returns the plain ones. */
export async function registerTsdbRoutes(
  app: FastifyInstance,
  given: Omit<RouteDeps, 'formats' | 'pieces'>,
): Promise<readonly PlainRoute[]> {
  const deps: RouteDeps = { ...given, formats: createTextFormats(), pieces: new PiecePool() };
  routesFor(app, 'admin');
  const writes = writeRoutes(deps);
  const plain: PlainRoute[] = [...writes];
  await app.register(async (scope) => {
    const bodies = new BodyPool();
    installRawBody(scope, deps.settings.max_request_size_bytes, bodies);
    // What is written is decoded on other threads.
    registerWriteRoutes(scope, writes, { bodies, log: deps.log });
  });
  await app.register(async (scope) => {
    installRawBody(scope, deps.settings.max_request_size_bytes);
    // Plugins get to see which encoding was sent.
    registerPluginRequestRoutes(scope, deps);
  });
  await app.register(async (scope) => {
    installRawBody(scope, deps.settings.max_request_size_bytes);
    installDecoding(scope, deps.settings.max_request_size_bytes);
    registerDeleteRoutes(scope, deps);
    plain.push(
      ...registerQueryRoutes(scope, deps),
      ...registerV1QueryRoute(scope, deps),
      ...registerNativeInfluxqlRoutes(scope, deps),
      ...registerServiceRoutes(scope, deps),
    );
    registerDatabaseRoutes(scope, deps);
    registerTableRoutes(scope, deps);
    registerCacheRoutes(scope, deps);
    registerTriggerRoutes(scope, deps);
    registerPluginTestRoutes(scope, deps);
    registerPluginFileRoutes(scope, deps);
    registerPackageRoutes(scope, deps);
  });
  await app.register(async (scope) => registerFlightRoutes(scope, deps));
  return plain;
}
