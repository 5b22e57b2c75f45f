import { type Dialect, jsonAnswer } from '@plinth/kernel';
import type { DialectDirectory } from './dialect-directory.js';
import type { ListedRoute } from './router.js';

/** Below which paths each service has its routes: those that its dialect speaks for, and first parts of all others. */
export function servedHere(
  routes: readonly ListedRoute[],
  dialects: DialectDirectory,
): Readonly<Record<string, readonly string[]>> {
  const served = new Map<string, Set<string>>();
  for (const { service, path } of routes) {
    const base = dialects.baseOf(path) ?? path.split('/').slice(0, 2).join('/');
    // What anybody is answered at `/` is the console, which has a path of its own.
    if (base !== '/') served.set(service, (served.get(service) ?? new Set()).add(base));
  }
  return Object.fromEntries([...served].map(([service, bases]) => [service, [...bases].sort()]));
}

/** Speaks outside of every service: in the words of `dialect`, and with what is served here. */
export function unservedDialect(
  dialect: Dialect,
  served: () => ReturnType<typeof servedHere>,
): Dialect {
  return {
    ...dialect,
    paths: [],
    answerNotFound: (request, allowed) =>
      allowed.length > 0
        ? dialect.answerNotFound(request, allowed)
        : jsonAnswer(404, {
            error: 'Not found',
            data: { served: served(), documentation: '/docs' },
          }),
  };
}
