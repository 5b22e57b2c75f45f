import { type ApiConventions, jsonResponse } from '@plinth/kernel';
import type { ConventionsDirectory } from './conventions-directory.js';
import type { ListedRoute } from './router.js';

/** Returns the base paths of each service: prefixes of its API conventions, and the first segment of all other routes. */
export function servedHere(
  routes: readonly ListedRoute[],
  conventionsDirectory: ConventionsDirectory,
): Readonly<Record<string, readonly string[]>> {
  const served = new Map<string, Set<string>>();
  for (const { service, path } of routes) {
    const base = conventionsDirectory.baseOf(path) ?? path.split('/').slice(0, 2).join('/');
    // `/` belongs to the console, which has its own path.
    if (base !== '/') served.set(service, (served.get(service) ?? new Set()).add(base));
  }
  return Object.fromEntries([...served].map(([service, bases]) => [service, [...bases].sort()]));
}

/** Returns the API conventions outside all services: `conventions`, with a list of the served paths. */
export function unservedConventions(
  conventions: ApiConventions,
  served: () => ReturnType<typeof servedHere>,
): ApiConventions {
  return {
    ...conventions,
    paths: [],
    notFoundResponse: (request, allowed) =>
      allowed.length > 0
        ? conventions.notFoundResponse(request, allowed)
        : jsonResponse(404, {
            error: 'Not found',
            data: { served: served(), documentation: '/docs' },
          }),
  };
}
