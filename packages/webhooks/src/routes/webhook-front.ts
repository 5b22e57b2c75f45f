import { AppJwtRefused, type Principal, type ServiceFront } from '@plinth/kernel';
import type { FastifyRequest } from 'fastify';
import type { Dialect } from './dialect.js';

export type AppPrincipal = Principal & { readonly kind: 'app' };

/** For which app an `Authorization` header speaks. Throws `AppJwtRefused`. */
export type AuthenticateApp = (authorization: string | undefined) => Promise<AppPrincipal>;

/** Whom an `Authorization` header of any kind speaks for. Throws `NotAuthenticated` or `AppJwtRefused`. */
export type AuthenticateAnyone = (authorization: string) => Principal | Promise<Principal>;

/** Open to everyone; a credential only says whose limits count. */
const PUBLIC_PATHS = ['/meta', '/versions'];

/** The platform's own API: apps by their JSON web tokens, nobody else. Source: webhooks, sections 2 and 3. */
export function webhookFront(needs: {
  readonly dialect: Dialect;
  readonly authenticate: AuthenticateApp;
  readonly authenticateAnyone: AuthenticateAnyone;
  readonly hasRootAlias: boolean;
}): ServiceFront {
  const { dialect } = needs;
  const prefixes = needs.hasRootAlias ? ['/api/v3', ''] : ['/api/v3'];
  const publicPaths = prefixes.flatMap((prefix) => PUBLIC_PATHS.map((path) => prefix + path));
  return {
    paths: [...prefixes.map((prefix) => `${prefix}/app`), ...publicPaths],
    authenticate(request) {
      const path = request.url.split('?', 1)[0] ?? '';
      const { authorization } = request.headers;
      if (!publicPaths.includes(path)) return needs.authenticate(authorization);
      if (authorization !== undefined) return needs.authenticateAnyone(authorization);
      return { kind: 'anonymous', ip: request.ip };
    },
    answerError: (error, request, reply) => dialect.sendError(error, request, reply),
    answerNotFound: (request, reply) => dialect.sendNotFound(request, reply),
    setHeaders: (request, reply) => dialect.setHeaders(request, reply),
    answerPreflight: (_request, reply) => dialect.answerPreflight(reply),
  };
}

/** The front has set it on every request that came this far. */
export function appIdOf(request: FastifyRequest): number {
  const principal: unknown = Reflect.get(request, 'principal');
  const { kind, appId } = Object(principal) as { kind?: unknown; appId?: unknown };
  if (kind === 'app' && typeof appId === 'number') return appId;
  throw new AppJwtRefused('undecodable');
}
