import {
  ANONYMOUS,
  type ApiConventions,
  type Clock,
  Cors,
  type CorsTerms,
  docsBaseAt,
  emptyResponse,
  GITHUB_REFUSALS,
  githubErrorResponse,
  githubFailureResponse,
  type HeaderList,
  type HttpHead,
  type HttpResponse,
  LIMIT_HEADERS,
  type Logger,
  operatorDocs,
  type Principal,
  pathOf,
  type Random,
  type Route,
  type RouteAccess,
} from '@plinth/kernel';
import type { WebhooksConfig } from '../config.js';
import { webhookError } from '../errors.js';
import { isWebhookError, statusOf } from './to-wire.js';

const DEFAULT_VERSION = '2022-11-28';
export const API_VERSIONS = ['2022-11-28', '2026-03-10'];

/** Paths that need no credentials, whether they exist or not. */
const OPEN_PATHS = /^(?:\/api\/v3)?\/(?:meta|versions)(?:\/|$)/;

/** Resolves credentials to principals. */
export interface Credentials {
  /** Returns the app of an `Authorization` header. Throws `AppJwtRefused`. */
  authenticate(authorization: string | undefined): Promise<Principal & { readonly kind: 'app' }>;
  /** Returns the principal of any credential. Throws `not_authenticated` or `AppJwtRefused`. */
  authenticateAnyone(authorization: string): Principal | Promise<Principal>;
}

interface WebhookConventionsDeps {
  readonly config: WebhooksConfig;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly publicUrl: string | undefined;
}

/**
 * The GitHub-compatible API, which accepts only JSON web tokens of apps. Source: webhooks, sections 2
 * and 3.
 */
export class WebhookConventions implements ApiConventions {
  readonly #deps: WebhookConventionsDeps;
  readonly service = 'webhooks';
  readonly refusals = GITHUB_REFUSALS;
  readonly paths: readonly string[];
  /** The vendor name in lowercase, as in media types. */
  readonly #vendor: string;
  readonly #cors: Cors;
  readonly #fixed: HeaderList;
  #operations: readonly (readonly [method: string, path: RegExp, operationId: string])[] = [];

  constructor(deps: WebhookConventionsDeps) {
    this.#deps = deps;
    this.paths = prefixesOf(deps.config).flatMap((prefix) =>
      ['/app', '/meta', '/versions'].map((path) => prefix + path),
    );
    const { vendor_name } = deps.config;
    this.#vendor = vendor_name.toLowerCase();
    this.#cors = new Cors(corsTerms(vendor_name));
    this.#fixed = [...fixedHeaders(vendor_name), ...this.#cors.headersFor(undefined)];
  }

  identify(
    { headers, url }: HttpHead,
    access: RouteAccess | undefined,
  ): Principal | Promise<Principal> {
    const { authorization } = headers;
    const isOpen = access === undefined ? OPEN_PATHS.test(pathOf(url)) : access === 'public';
    if (!isOpen) return this.#deps.credentials.authenticate(authorization);
    // Anyone may read these paths; a credential only selects the rate limit.
    if (authorization === undefined) return ANONYMOUS;
    return this.#deps.credentials.authenticateAnyone(authorization);
  }

  headers(request: HttpHead): HeaderList {
    const version = this.#versionOf(request);
    const selected = API_VERSIONS.includes(version) ? version : DEFAULT_VERSION;
    return [
      ...this.#fixed,
      [`x-${this.#vendor}-api-version-selected`, selected],
      [`x-${this.#vendor}-request-id`, this.#makeRequestId()],
    ];
  }

  /**
   * Checks the headers of a request before its route runs. Throws `media_type_unacceptable`,
   * `api_version_unsupported` and others of the catalog.
   */
  check(request: HttpHead): void {
    const { accept, 'user-agent': agent } = request.headers;
    if (accept !== undefined && !this.#accepts(accept))
      throw webhookError('media_type_unacceptable', accept);
    const version = this.#versionOf(request);
    if (!API_VERSIONS.includes(version)) throw webhookError('api_version_unsupported', version);
    if (this.#deps.config.require_user_agent && (agent === undefined || agent === '')) {
      throw webhookError('user_agent_missing');
    }
  }

  errorResponse(error: unknown, request: HttpHead): HttpResponse {
    if (isWebhookError(error)) {
      return this.#fail(request, statusOf(error), error.message);
    }
    const documentationUrl = this.#documentationUrl(request);
    return githubErrorResponse(error, { log: this.#deps.log, documentationUrl });
  }

  notFoundResponse(request: HttpHead): HttpResponse {
    return this.#fail(request, 404, 'Not Found');
  }

  preflightResponse(request: HttpHead, methods: readonly string[]): HttpResponse {
    return emptyResponse(204, this.#cors.preflightFor(request, methods));
  }

  /** Makes error responses of these routes link to the documentation of their operation. */
  nameOperations(routes: readonly Route[]): void {
    this.#operations = routes.flatMap(({ method, path, about }) => {
      const operationId = about.operationId;
      if (operationId === undefined) return [];
      return [[method, new RegExp(`${path.replace(/:\w+/g, '[^/]+')}$`), operationId] as const];
    });
  }

  /** Returns the scheme and host under which clients reach this server. */
  baseUrl({ publicBase }: HttpHead): string {
    return this.#deps.publicUrl ?? publicBase;
  }

  #fail(request: HttpHead, status: number, message: string): HttpResponse {
    const documentationUrl = this.#documentationUrl(request);
    return githubFailureResponse({ status, message, documentationUrl });
  }

  #documentationUrl(request: HttpHead): string {
    if (request.url.startsWith('/ops/')) return operatorDocs(request);
    const base = docsBaseAt(this.#deps.config, this.baseUrl(request));
    const path = pathOf(request.url);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const anchor = this.#operations.find(
      ([verb, pattern]) => verb === method && pattern.test(path),
    )?.[2];
    return anchor === undefined ? `${base}/rest` : `${base}/rest/apps/webhooks#${anchor}`;
  }

  #accepts(accept: string): boolean {
    const vendors = `(?:${this.#vendor}|github)`;
    const type = new RegExp(
      `^(?:\\*/\\*|application/\\*|application/json|application/vnd\\.${vendors}(?:\\.[a-z0-9.-]+)?(?:\\+json)?)$`,
      'i',
    );
    return accept.split(',').some((part) => type.test(part.split(';', 1)[0]?.trim() ?? ''));
  }

  #versionOf({ headers }: HttpHead): string {
    const value = headers[`x-${this.#vendor}-api-version`] ?? headers['x-github-api-version'];
    return value === undefined || value === '' ? DEFAULT_VERSION : value;
  }

  /** Groups of uppercase hex digits; the last group is a Unix timestamp in seconds. */
  #makeRequestId(): string {
    const hex = Buffer.from(this.#deps.random.bytes(11)).toString('hex').toUpperCase();
    const seconds = Math.floor(this.#deps.clock.nowMs() / 1000)
      .toString(16)
      .toUpperCase();
    const groups = [hex.slice(0, 4), hex.slice(4, 9), hex.slice(9, 15), hex.slice(15, 21)];
    return [...groups, seconds].join(':');
  }
}

/** Returns the path prefixes of the app routes. */
export const prefixesOf = ({ root_alias }: WebhooksConfig): readonly string[] =>
  root_alias ? ['/api/v3', ''] : ['/api/v3'];

/** Returns the CORS headers, which are the same on all paths, as on GitHub. */
const corsTerms = (vendor: string): CorsTerms => ({
  origins: '*',
  exposes: `ETag, Link, Location, Retry-After, ${LIMIT_HEADERS}, X-${vendor}-Media-Type, X-${vendor}-Request-Id, Deprecation, Sunset`,
  methods: 'GET, POST, PATCH, PUT, DELETE',
  requestHeaders: `Authorization, Content-Type, If-Match, If-Modified-Since, If-None-Match, If-Unmodified-Since, Accept-Encoding, X-${vendor}-OTP, X-${vendor}-Api-Version, X-Requested-With, User-Agent`,
  maxAgeSec: 86_400,
});

function fixedHeaders(vendorName: string): HeaderList {
  const vendor = vendorName.toLowerCase();
  return [
    [`x-${vendor}-media-type`, `${vendor}.v3; format=json`],
    ['vary', 'Accept, Authorization, Accept-Encoding'],
    ['x-content-type-options', 'nosniff'],
    ['x-frame-options', 'deny'],
    ['referrer-policy', 'origin-when-cross-origin, strict-origin-when-cross-origin'],
    ['content-security-policy', "default-src 'none'"],
  ];
}
