import type { Route } from '@plinth/kernel';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import type { RouteDeps } from '../deps.js';
import { grpcRoute } from '../grpc/grpc-route.js';
import { FLIGHT_PATH } from './flight-conventions.js';

/** The Arrow Flight route. Source: tsdb-http, §20. */
export const flightRoute = (deps: RouteDeps): Route =>
  grpcRoute(deps, {
    path: FLIGHT_PATH,
    about: { summary: 'Arrow Flight call (gRPC over HTTP/2)' },
    async serve(method, call, { principal }) {
      const { serveFlight } = await import('./flight-service.js');
      const access = accessOf(principal, deps.isAuthRequired);
      await serveFlight(method, call, { ...deps, access });
    },
  });
