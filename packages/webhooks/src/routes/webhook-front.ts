import { AppJwtRefused, type Principal, type ServiceFront } from '@plinth/kernel';
import type { FastifyRequest } from 'fastify';
import type { Dialect } from './dialect.js';

export type AppPrincipal = Principal & { readonly kind: 'app' };

/** For which app an `Authorization` header speaks. Throws `AppJwtRefused`. */
export type AuthenticateApp = (authorization: string | undefined) => Promise<AppPrincipal>;

/** Open to everyone. */
const PUBLIC_PATHS = ['/api/v3/meta', '/api/v3/versions'];

/** The platform's own API: apps by their JSON web tokens, nobody else. Source: webhooks, sections 2 and 3. */
export function webhookFront(needs: {
  readonly dialect: Dialect;
  readonly authenticate: AuthenticateApp;
  readonly hasRootAlias: boolean;
}): ServiceFront {
  const { dialect } = needs;
  return {
    paths: ['/api/v3/app', ...(needs.hasRootAlias ? ['/app'] : []), ...PUBLIC_PATHS],
    authenticate(request) {
      const path = request.url.split('?', 1)[0] ?? '';
      if (PUBLIC_PATHS.includes(path)) return { kind: 'anonymous', ip: request.ip };
      return needs.authenticate(request.headers.authorization);
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
