import type { Route } from '@plinth/kernel';
import { tsdbError } from '../../errors.js';
import type { RouteDeps } from '../deps.js';

const ERRORS = { 404: 'Flux is not spoken here' } as const;

/** Where clients of version 2 send Flux, which is not spoken here: they are told what is. */
export function fluxRoutes({ admin }: RouteDeps): readonly Route[] {
  const refuse = (): never => {
    throw tsdbError('flux_not_spoken');
  };
  return ['/api/v2/query', '/api/v2/query/*'].flatMap((path) =>
    admin.query(path, { summary: 'Flux is refused, with what to use', errors: ERRORS }, refuse),
  );
}
