import { type Dialect, jsonResponse } from '@plinth/kernel';
import type { DialectDirectory } from './dialect-directory.js';
import type { ListedRoute } from './router.js';

/** Returns the base paths of each service: prefixes of its dialect, and the first segment of all other routes. */
export function servedHere(
  routes: readonly ListedRoute[],
  dialects: DialectDirectory,
): Readonly<Record<string, readonly string[]>> {
  const served = new Map<string, Set<string>>();
  for (const { service, path } of routes) {
    const base = dialects.baseOf(path) ?? path.split('/').slice(0, 2).join('/');
    // `/` belongs to the console, which has its own path.
    if (base !== '/') served.set(service, (served.get(service) ?? new Set()).add(base));
  }
  return Object.fromEntries([...served].map(([service, bases]) => [service, [...bases].sort()]));
}

/** Returns the dialect outside all services: `dialect`, with a list of the served paths. */
export function unservedDialect(
  dialect: Dialect,
  served: () => ReturnType<typeof servedHere>,
): Dialect {
  return {
    ...dialect,
    paths: [],
    notFoundResponse: (request, allowed) =>
      allowed.length > 0
        ? dialect.notFoundResponse(request, allowed)
        : jsonResponse(404, {
            error: 'Not found',
            data: { served: served(), documentation: '/docs' },
          }),
  };
}
