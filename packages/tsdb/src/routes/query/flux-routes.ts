import type { Route } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { RouteDeps } from '../deps.js';

const ERRORS = { 404: 'Flux is not supported' } as const;

/** Routes to which 2.x clients send Flux. The error names the supported endpoints. */
export function fluxRoutes({ routeBuilder }: RouteDeps): readonly Route[] {
  const refuse = (): never => {
    throw tsdbError('flux_not_spoken');
  };
  return ['/api/v2/query', '/api/v2/query/*'].flatMap((path) =>
    routeBuilder.query(
      path,
      { summary: 'Reject Flux; the error lists the supported endpoints', errors: ERRORS },
      refuse,
    ),
  );
}
