import {
  ANONYMOUS,
  type Dialect,
  docsBaseAt,
  emptyAnswer,
  type HeaderList,
  LIMIT_HEADERS,
  type Logger,
  PLATFORM_REFUSALS,
  type Principal,
  pathOf,
  platformFailureAnswer,
} from '@plinth/kernel';
import type { RateLimitConfig } from '../config.js';
import { AUTH_PATH } from './auth-route.js';
import { INSTALLATION_PATHS, META_PATHS } from './platform-routes.js';
import { STATUS_PATHS } from './status-routes.js';
import { answerError } from './to-wire.js';

const HEADERS: HeaderList = [
  ['access-control-allow-origin', '*'],
  ['access-control-expose-headers', `ETag, Retry-After, ${LIMIT_HEADERS}`],
];

const PREFLIGHT_HEADERS: HeaderList = [
  ['access-control-allow-methods', 'GET, HEAD, OPTIONS'],
  ['access-control-allow-headers', '*'],
  ['access-control-max-age', '86400'],
];

export interface DialectNeeds {
  readonly config: RateLimitConfig;
  /** Who a credential belongs to. Throws `not_authenticated`. */
  readonly credentials: { resolve(authorization: string): Principal | Promise<Principal> };
  /** No other service answers `/api/v3/meta`. */
  readonly ownsMeta: boolean;
  readonly log: Logger;
}

/** Of what a caller asks about its own limits: anybody may, and who shows a credential is meant by it. */
export function rateLimitDialect(needs: DialectNeeds): Dialect {
  const { config, credentials, log } = needs;
  const documentationAt = (base: string): string => `${docsBaseAt(config, base)}/rest`;
  return {
    service: 'ratelimit',
    paths: [
      ...STATUS_PATHS,
      ...INSTALLATION_PATHS,
      AUTH_PATH,
      ...(needs.ownsMeta ? META_PATHS : []),
    ],
    refusals: PLATFORM_REFUSALS,
    identify({ url, headers }) {
      const { authorization } = headers;
      // The credential there is that of the request which is asked about.
      const isQuestion = pathOf(url).startsWith(AUTH_PATH);
      if (authorization !== undefined && !isQuestion) return credentials.resolve(authorization);
      return ANONYMOUS;
    },
    answerError: (error, { base }) =>
      answerError(error, { log, documentationUrl: documentationAt(base) }),
    answerNotFound: ({ base }) =>
      platformFailureAnswer({
        status: 404,
        message: 'Not Found',
        documentationUrl: documentationAt(base),
      }),
    headers: () => HEADERS,
    answerPreflight: () => emptyAnswer(204, PREFLIGHT_HEADERS),
  };
}
