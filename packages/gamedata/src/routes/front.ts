import type { Principal, ServiceFront } from '@plinth/kernel';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ParameterInvalid, RecordNotFound, UriTooLong } from '../errors.js';
import type { EditorAccess } from './editor/editor-access.js';
import { CACHE_404, JSON_TYPE, publicHeaders } from './public-headers.js';
import type { RouteTable } from './route-table.js';
import { toErrorAnswer } from './to-wire.js';

export const MAX_URL_LENGTH = 8192;

export interface FrontParts {
  readonly ownsRoot: boolean;
  readonly cors: boolean;
  readonly editorOrigins: readonly string[];
  readonly access: EditorAccess;
  readonly routes: RouteTable;
  reportBug(error: unknown, requestId: string): void;
}

/** A refusal, ready to be sent. */
export interface WordedError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Decides before routing, and answers what no route has, in the dialect of game data. */
export class GameDataFront implements ServiceFront {
  /** `/api` is ours as far as no other service has a longer path below it. */
  readonly paths: readonly string[];
  readonly #parts: FrontParts;
  readonly #publicHeaders: Readonly<Record<string, string>>;

  constructor(parts: FrontParts) {
    this.#parts = parts;
    // Paths are case-sensitive; whoever writes them otherwise shall hear so, and not be asked for a credential.
    const alone = parts.ownsRoot ? ['/', '/API', '/Api'] : [];
    this.paths = ['/api', '/editor', ...alone];
    this.#publicHeaders = publicHeaders(parts.cors);
  }

  authenticate(request: FastifyRequest): Principal {
    const { url, ip } = request;
    if (url.length > MAX_URL_LENGTH) throw new UriTooLong({ limitBytes: MAX_URL_LENGTH });
    if (isEditor(url)) {
      const { access } = this.#parts;
      access.admit(request);
      const actor = access.actorOf(request);
      // Counted apart from whoever else is behind the address.
      if (actor !== undefined) return { kind: 'editor', name: actor.name };
    }
    return { kind: 'anonymous', ip };
  }

  answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { status, headers, body } = this.wordError(error, request);
    return reply.code(status).headers(headers).send(body);
  }

  /** @param request whose `id` is told where the fault is ours. */
  wordError(
    error: unknown,
    request: Pick<FastifyRequest, 'url' | 'id'> & {
      readonly headers: { origin?: string | undefined };
    },
  ): WordedError {
    const { url, id } = request;
    const answer = toErrorAnswer(error, id);
    if (answer.status === 500) this.#parts.reportBug(error, id);
    const isPublic = !isEditor(url);
    return {
      status: answer.status,
      headers: {
        ...(isPublic ? this.#publicHeaders : this.#editorHeaders(request)),
        vary: isPublic ? 'Accept-Encoding' : 'Origin',
        'cache-control': isPublic && answer.status === 404 ? CACHE_404 : 'no-store',
        'content-type': JSON_TYPE,
        ...answer.headers,
        ...(answer.status === 301 && { location: `${answer.headers['location']}${queryOf(url)}` }),
      },
      body: Buffer.from(JSON.stringify(answer.body)),
    };
  }

  /** A page of another origin must be able to read that it has to wait. */
  setRefusalHeaders(request: FastifyRequest, reply: FastifyReply): void {
    const own = isEditor(request.url) ? this.#editorHeaders(request) : this.#publicHeaders;
    reply.headers({ ...own, 'cache-control': 'no-store' });
  }

  /** Clients of game data read `error`; those of the limiter find its own members behind it. */
  wordRefusal(body: object): object {
    const message: unknown = Reflect.get(body, 'message');
    if (typeof message !== 'string') return body;
    return { error: message, code: 'rate_limited', ...body };
  }

  answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const path = request.url.split('?', 1)[0] ?? '';
    if (!isReadable(path)) {
      const message = 'the path is not valid: broken percent-encoding or a NUL character';
      return this.answerError(new ParameterInvalid({ param: 'path', message }), request, reply);
    }
    const methods = this.#parts.routes.methodsOf(path);
    if (methods.length === 0) {
      return this.answerError(new RecordNotFound('Not found'), request, reply);
    }
    const body = { error: `${request.method} is not possible here`, code: 'method_not_allowed' };
    return reply
      .code(405)
      .headers({
        ...(isEditor(path) ? this.#editorHeaders(request) : this.#publicHeaders),
        vary: isEditor(path) ? 'Origin' : 'Accept-Encoding',
        allow: [...methods, 'OPTIONS'].join(', '),
        'cache-control': 'no-store',
        'content-type': JSON_TYPE,
      })
      .send(Buffer.from(JSON.stringify(body)));
  }

  answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const asked = request.headers['access-control-request-headers'];
    const allowed = asked === undefined ? {} : { 'access-control-allow-headers': asked };
    const maxAge = { 'access-control-max-age': '86400' };
    if (isEditor(request.url)) {
      const own = this.#editorHeaders(request);
      const isOpen = own['access-control-allow-origin'] !== undefined;
      const methods = {
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      };
      const headers = isOpen ? { ...own, ...methods, ...allowed, ...maxAge } : own;
      return reply
        .code(204)
        .headers({ ...headers, vary: 'Origin' })
        .send();
    }
    const methods = 'GET, HEAD, OPTIONS';
    const cors = this.#parts.cors
      ? { 'access-control-allow-methods': methods, ...allowed, ...maxAge }
      : {};
    return reply
      .code(204)
      .headers({ ...this.#publicHeaders, ...cors, allow: methods })
      .send();
  }

  /** Web pages may call the editor only from origins that the operator named. */
  #editorHeaders({
    headers: { origin },
  }: {
    readonly headers: { origin?: string | undefined };
  }): Record<string, string> {
    const base = { 'x-content-type-options': 'nosniff' };
    if (origin === undefined || !this.#parts.editorOrigins.includes(origin)) return base;
    return {
      ...base,
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'ETag, Location, Retry-After',
    };
  }

  headersFor(request: FastifyRequest): Record<string, string> {
    return { ...this.#editorHeaders(request), vary: 'Origin', 'cache-control': 'no-store' };
  }
}

/** What is asked of a record is asked of the one in its place, too. */
function queryOf(url: string): string {
  const mark = url.indexOf('?');
  return mark === -1 ? '' : url.slice(mark);
}

const EDITOR = /^\/api\/editor(?=[/?]|$)/;
const isEditor = (url: string): boolean => EDITOR.test(url);

function isReadable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}
