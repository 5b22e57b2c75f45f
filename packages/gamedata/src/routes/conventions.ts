import {
  ANONYMOUS,
  type ApiConventions,
  Cors,
  emptyResponse,
  type HeaderList,
  type HttpHead,
  type HttpResponse,
  type Principal,
  pathOf,
  queryOf,
  type RouteAccess,
} from '@plinth/kernel';
import { gameDataError } from '../errors.js';
import { CACHE_404, JSON_TYPE, NOT_STORED } from './content-headers.js';
import type { EditorAccess } from './editor/editor-access.js';
import { REFUSALS } from './openapi/route-docs.js';
import { type ErrorResponse, toErrorResponse } from './to-wire.js';

const MAX_URL_LENGTH = 8192;
/** Header of all responses, including pages. */
const SAFE: HeaderList = [['x-content-type-options', 'nosniff']];
/** Headers that browsers expose to pages of another origin. Source: gamedata, section 2.12. */
const EXPOSED =
  'ETag, Link, X-Total-Count, X-Data-Version, X-Ignored-Params, Retry-After, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-used, x-ratelimit-reset, x-ratelimit-resource';
const PUBLIC: HeaderList = [...SAFE, ['cross-origin-resource-policy', 'cross-origin']];
/**
 * Identical for all editor paths, so that clients without a token cannot detect which paths exist.
 */
const EDITOR_METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

export interface ConventionsParts {
  readonly ownsRoot: boolean;
  /** Whether pages of other origins may read public data. */
  readonly cors: boolean;
  /** Origins whose pages may read editor responses. */
  readonly editorOrigins: readonly string[];
  readonly access: EditorAccess;
  /** @returns an error id for the client. */
  reportBug(error: unknown): string;
}

/** API conventions of public reads, which are all anonymous, and of the editor below `/api/editor`. */
export class GameDataConventions implements ApiConventions {
  readonly service = 'gamedata';
  readonly refusals = REFUSALS;
  readonly refusalHeaders = (): HeaderList => NOT_STORED;
  /** `/api`, except for longer paths of other services. */
  readonly paths: readonly string[];
  readonly #parts: ConventionsParts;
  readonly #publicCors: Cors;
  readonly #editorCors: Cors;
  readonly #public: HeaderList;

  constructor(parts: ConventionsParts) {
    this.#parts = parts;
    const terms = { requestHeaders: 'asked', maxAgeSec: 86_400 };
    this.#publicCors = new Cors({ ...terms, origins: parts.cors ? '*' : [], exposes: EXPOSED });
    this.#editorCors = new Cors({
      ...terms,
      origins: parts.editorOrigins,
      exposes: 'ETag, Location, Retry-After',
      methods: EDITOR_METHODS,
    });
    this.#public = [...PUBLIC, ...this.#publicCors.headersFor(undefined)];
    // Paths are case-sensitive; wrong case must return 404 instead of 401.
    const alone = parts.ownsRoot ? ['/', '/API', '/Api'] : [];
    this.paths = ['/api', '/images', '/editor', ...alone];
  }

  identify(request: HttpHead, access: RouteAccess | undefined): Principal {
    const { url } = request;
    if (url.length > MAX_URL_LENGTH)
      throw gameDataError('uri_too_long', { limitBytes: MAX_URL_LENGTH });
    if (isEditor(url)) {
      const actor = this.#parts.access.admit(request, access === 'public');
      // Editors are limited separately from other clients at the same address.
      if (actor !== undefined) return { kind: 'editor', name: actor.name, scopes: actor.scopes };
    }
    return ANONYMOUS;
  }

  errorResponse(error: unknown, request: HttpHead): HttpResponse {
    return this.#formatError(toErrorResponse(error, this.#parts.reportBug), request);
  }

  notFoundResponse(request: HttpHead, allowed: readonly string[]): HttpResponse {
    if (!isReadable(pathOf(request.url))) {
      const message = 'invalid path: broken percent-encoding or a NUL character';
      return this.errorResponse(
        gameDataError('invalid_parameter', { param: 'path', message }),
        request,
      );
    }
    if (allowed.length === 0)
      return this.errorResponse(gameDataError('not_found', 'Not found'), request);
    const { method } = request;
    return this.errorResponse(gameDataError('method_not_allowed', { method, allowed }), request);
  }

  /** Headers of all responses, including rate limit refusals. */
  headers({ url, headers: { origin } }: HttpHead): HeaderList {
    if (isEditor(url)) return [...SAFE, ...this.#editorCors.headersFor(origin)];
    return EDITOR_PAGE.test(url) ? SAFE : this.#public;
  }

  /** Game data clients read `error`; the members of the rate limiter follow it. */
  formatRefusal(body: object): object {
    const message: unknown = Reflect.get(body, 'message');
    if (typeof message !== 'string') return body;
    return { error: message, code: 'rate_limited', ...body };
  }

  preflightResponse(request: HttpHead, methods: readonly string[]): HttpResponse {
    if (isEditor(request.url)) {
      return emptyResponse(204, this.#editorCors.preflightFor(request, methods));
    }
    const allowed = [...methods, 'OPTIONS'];
    const allow: HeaderList = [['allow', allowed.join(', ')]];
    if (EDITOR_PAGE.test(request.url)) return emptyResponse(204, allow);
    return emptyResponse(204, [...allow, ...this.#publicCors.preflightFor(request, allowed)]);
  }

  #formatError({ status, headers, body }: ErrorResponse, request: HttpHead): HttpResponse {
    const isPublic = !isEditor(request.url);
    const all = {
      ...(isPublic && { vary: 'Accept-Encoding' }),
      'cache-control': isPublic && status === 404 ? CACHE_404 : 'no-store',
      'content-type': JSON_TYPE,
      ...headers,
      // Redirects keep the query string.
      ...(status === 301 && { location: `${headers['location']}${queryStringOf(request.url)}` }),
    };
    return { status, headers: Object.entries(all), body: Buffer.from(JSON.stringify(body)) };
  }
}

const queryStringOf = (url: string): string => (url.includes('?') ? `?${queryOf(url)}` : '');

const EDITOR = /^\/api\/editor(?=[/?]|$)/;
const EDITOR_PAGE = /^\/editor(?=[/?]|$)/;
const isEditor = (url: string): boolean => EDITOR.test(url);

function isReadable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}
