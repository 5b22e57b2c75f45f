import {
  ANONYMOUS,
  type ApiConventions,
  Cors,
  docsBaseAt,
  emptyResponse,
  GITHUB_REFUSALS,
  githubFailureResponse,
  LIMIT_HEADERS,
  type Logger,
  type Principal,
  pathOf,
} from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import { AUTH_PATH } from './auth-route.js';
import { INSTALLATION_PATHS, META_PATHS } from './github-routes.js';
import { STATUS_PATHS } from './status-routes.js';
import { errorResponse } from './to-wire.js';

export interface ConventionsDeps {
  readonly config: RateLimitConfig;
  /** Returns the principal of a credential. Throws `not_authenticated`. */
  readonly credentials: { resolve(authorization: string): Principal | Promise<Principal> };
  /** Whether this service serves `/api/v3/meta`, because no other does. */
  readonly ownsMeta: boolean;
  readonly log: Logger;
}

/**
 * Creates the API conventions of requests for the caller's own limits. Anonymous requests are allowed; a
 * credential selects its own identity.
 */
export function rateLimitConventions(deps: ConventionsDeps): ApiConventions {
  const { config, credentials, log } = deps;
  const cors = new Cors({
    origins: '*',
    exposes: `ETag, Retry-After, ${LIMIT_HEADERS}`,
    methods: 'GET, HEAD, OPTIONS',
    requestHeaders: '*',
    maxAgeSec: 86_400,
  });
  const documentationAt = (base: string): string => `${docsBaseAt(config, base)}/rest`;
  return {
    service: 'ratelimit',
    paths: [
      ...STATUS_PATHS,
      ...INSTALLATION_PATHS,
      AUTH_PATH,
      ...(deps.ownsMeta ? META_PATHS : []),
    ],
    refusals: GITHUB_REFUSALS,
    identify({ url, headers }) {
      const { authorization } = headers;
      // The credential on this path belongs to the checked request.
      const isAuthCheck = pathOf(url).startsWith(AUTH_PATH);
      if (authorization !== undefined && !isAuthCheck) return credentials.resolve(authorization);
      return ANONYMOUS;
    },
    errorResponse: (error, { base }) =>
      errorResponse(error, { log, documentationUrl: documentationAt(base) }),
    notFoundResponse: ({ base }) =>
      githubFailureResponse({
        status: 404,
        message: 'Not Found',
        documentationUrl: documentationAt(base),
      }),
    headers: ({ headers: { origin } }) => cors.headersFor(origin),
    preflightResponse: (request, methods) =>
      emptyResponse(204, cors.preflightFor(request, methods)),
  };
}
