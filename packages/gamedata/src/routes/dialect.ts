import {
  type Dialect,
  emptyAnswer,
  type HeaderList,
  type HttpAnswer,
  type HttpHead,
  type Principal,
  pathOf,
  queryOf,
  type RouteAccess,
} from '@plinth/kernel';
import { gameDataError } from '../errors.js';
import type { EditorAccess } from './editor/editor-access.js';
import { REFUSALS } from './openapi/words.js';
import { CACHE_404, JSON_TYPE, publicHeaders } from './public-headers.js';
import { type ErrorAnswer, toErrorAnswer } from './to-wire.js';

const MAX_URL_LENGTH = 8192;

export interface DialectParts {
  readonly ownsRoot: boolean;
  readonly cors: boolean;
  readonly editorOrigins: readonly string[];
  readonly access: EditorAccess;
  /** @returns a name of the failure that its client is told. */
  reportBug(error: unknown): string;
}

/** Of public reads, for which everybody is anonymous, and of the editor below `/api/editor`. */
export class GameDataDialect implements Dialect {
  readonly service = 'gamedata';
  readonly refusals = REFUSALS;
  /** `/api` is ours as far as no other service has a longer path below it. */
  readonly paths: readonly string[];
  readonly #parts: DialectParts;
  readonly #publicHeaders: Readonly<Record<string, string>>;

  constructor(parts: DialectParts) {
    this.#parts = parts;
    // Paths are case-sensitive; whoever writes them otherwise shall hear so, and not be asked for a credential.
    const alone = parts.ownsRoot ? ['/', '/API', '/Api'] : [];
    this.paths = ['/api', '/images', '/editor', ...alone];
    this.#publicHeaders = publicHeaders(parts.cors);
  }

  identify(request: HttpHead, access: RouteAccess | undefined): Principal {
    const { url, ip } = request;
    if (url.length > MAX_URL_LENGTH)
      throw gameDataError('uri_too_long', { limitBytes: MAX_URL_LENGTH });
    if (isEditor(url)) {
      const actor = this.#parts.access.admit(request, access === 'public');
      // Counted apart from whoever else is behind the address.
      if (actor !== undefined) return { kind: 'editor', name: actor.name };
    }
    return { kind: 'anonymous', ip };
  }

  answerError(error: unknown, request: HttpHead): HttpAnswer {
    return this.#word(toErrorAnswer(error, this.#parts.reportBug), request);
  }

  answerNotFound(request: HttpHead, allowed: readonly string[]): HttpAnswer {
    if (!isReadable(pathOf(request.url))) {
      const message = 'the path is not valid: broken percent-encoding or a NUL character';
      return this.answerError(
        gameDataError('invalid_parameter', { param: 'path', message }),
        request,
      );
    }
    if (allowed.length === 0)
      return this.answerError(gameDataError('not_found', 'Not found'), request);
    const { method } = request;
    return this.answerError(gameDataError('method_not_allowed', { method, allowed }), request);
  }

  /** A page of another origin must be able to read that it has to wait. */
  refusalHeaders(request: HttpHead): HeaderList {
    return Object.entries({ ...this.#ownHeaders(request), 'cache-control': 'no-store' });
  }

  /** Clients of game data read `error`; those of the limiter find its own members behind it. */
  wordRefusal(body: object): object {
    const message: unknown = Reflect.get(body, 'message');
    if (typeof message !== 'string') return body;
    return { error: message, code: 'rate_limited', ...body };
  }

  answerPreflight(request: HttpHead): HttpAnswer {
    const own = this.#ownHeaders(request);
    const asked = request.headers['access-control-request-headers'];
    const isForEditor = isEditor(request.url);
    const methods = `GET, HEAD, ${isForEditor ? 'POST, PUT, PATCH, DELETE, ' : ''}OPTIONS`;
    const isOpen = own['access-control-allow-origin'] !== undefined;
    return emptyAnswer(
      204,
      Object.entries({
        ...own,
        ...(isOpen && {
          'access-control-allow-methods': methods,
          ...(asked !== undefined && { 'access-control-allow-headers': asked }),
          'access-control-max-age': '86400',
        }),
        ...(isForEditor ? { vary: 'Origin' } : { allow: methods }),
      }),
    );
  }

  /** Of answers of the editor. */
  editorHeaders(request: HttpHead): Readonly<Record<string, string>> {
    return { ...this.#ownHeaders(request), vary: 'Origin', 'cache-control': 'no-store' };
  }

  #word({ status, headers, body }: ErrorAnswer, request: HttpHead): HttpAnswer {
    const isPublic = !isEditor(request.url);
    const all = {
      ...this.#ownHeaders(request),
      vary: isPublic ? 'Accept-Encoding' : 'Origin',
      'cache-control': isPublic && status === 404 ? CACHE_404 : 'no-store',
      'content-type': JSON_TYPE,
      ...headers,
      // What is asked of a record is asked of the one in its place, too.
      ...(status === 301 && { location: `${headers['location']}${questionOf(request.url)}` }),
    };
    return { status, headers: Object.entries(all), body: Buffer.from(JSON.stringify(body)) };
  }

  /** Web pages may call the editor only from origins that the operator named. */
  #ownHeaders({ url, headers: { origin } }: HttpHead): Readonly<Record<string, string>> {
    if (!isEditor(url)) return this.#publicHeaders;
    const base = { 'x-content-type-options': 'nosniff' };
    if (origin === undefined || !this.#parts.editorOrigins.includes(origin)) return base;
    return {
      ...base,
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'ETag, Location, Retry-After',
    };
  }
}

const questionOf = (url: string): string => (url.includes('?') ? `?${queryOf(url)}` : '');

const EDITOR = /^\/api\/editor(?=[/?]|$)/;
const isEditor = (url: string): boolean => EDITOR.test(url);

function isReadable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}
