import { refusalOf } from '../http/access/route-access.js';
import type { ApiConventions } from '../http/api-conventions.js';
import { decodeBody } from '../http/body/decode-body.js';
import { type HttpHead, pathOf } from '../http/http-request.js';
import type { HttpResponse } from '../http/http-response.js';
import { normalTarget } from '../http/normal-target.js';
import { inputReader } from '../http/read-input.js';
import type { Route, RouteGroup } from '../http/route.js';
import { requestHead } from './request-head.js';

export interface TestRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/** The response as a client receives it. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly text: string;
}

interface FoundRoute {
  readonly conventions: ApiConventions;
  /** The table's own error format, if it has one. */
  readonly errorResponse: RouteGroup['errorResponse'];
  readonly route: Route;
  readonly parameters: Readonly<Record<string, string>>;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** The access of principal kinds with another name. */
const ACCESS_OF: Readonly<Record<string, string>> = { platform_key: 'platform' };

/**
 * Calls the routes of a service without a socket, in the order of the request pipeline: credential, route, access, check of
 * the head, body, input, handler. It does not support HEAD, limits, and errors that hide paths; wire tests cover these.
 */
export class TestRoutes {
  readonly #routes: readonly (Omit<FoundRoute, 'parameters'> & { readonly pattern: RegExp })[];
  readonly #conventions: ApiConventions;
  readonly #head: Parameters<typeof requestHead>[0];

  /** @param head properties of every request, such as the client address. */
  constructor(tables: readonly RouteGroup[], head: Parameters<typeof requestHead>[0] = {}) {
    const [first] = tables;
    if (first === undefined) throw new Error('groups must contain at least one route group');
    this.#conventions = first.conventions;
    this.#head = head;
    this.#routes = tables
      .flatMap(({ routes, conventions, errorResponse }) =>
        routes.map((route) => ({ conventions, errorResponse, route })),
      )
      .toSorted((a, b) => (orderOf(a.route) < orderOf(b.route) ? -1 : 1))
      .map((each) => ({ ...each, pattern: patternOf(each.route.path) }));
  }

  async send(target: string, request: TestRequest = {}): Promise<TestResponse> {
    const { method = 'GET', body } = request;
    const sent = Buffer.from(body ?? '');
    const length = body === undefined ? {} : { 'content-length': String(sent.length) };
    const headers = { ...length, ...request.headers };
    const head = requestHead({ method, url: normalTarget(target), headers, ...this.#head });
    const found = this.#find(method, pathOf(head.url));
    const conventions = found?.conventions ?? this.#conventions;
    const response = await this.#respond(head, sent, conventions, found);
    const pieces: Uint8Array[] = [Buffer.from(response.body ?? '')];
    if (response.rest !== undefined) for await (const piece of response.rest) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const listed = [...(conventions.headers?.(head) ?? []), ...response.headers];
    const { status } = response;
    return { status, headers: Object.fromEntries(listed), bytes, text: bytes.toString() };
  }

  async #respond(
    head: HttpHead,
    sent: Uint8Array,
    conventions: ApiConventions,
    found: FoundRoute | undefined,
  ): Promise<HttpResponse> {
    const methods = this.#methodsOf(pathOf(head.url));
    if (head.method === 'OPTIONS') {
      const preflight = conventions.preflightResponse?.(head, methods);
      if (preflight !== undefined) return preflight;
    }
    try {
      const principal = await conventions.identify(head, found?.route.access);
      if (found === undefined) {
        return conventions.notFoundResponse(
          head,
          methods.length > 0 ? [...methods, 'OPTIONS'] : [],
        );
      }
      const { route, parameters } = found;
      const access = ACCESS_OF[principal.kind] ?? principal.kind;
      if (route.access !== 'public' && route.access !== access) {
        throw refusalOf(route.access, principal);
      }
      const request = Object.assign(head, { principal, parameters, body: sent });
      route.check?.(request);
      const encoding = route.body?.isLeftEncoded ? undefined : head.headers['content-encoding'];
      if (route.body !== undefined) {
        request.body = await decodeBody(sent, encoding, route.body.maxBytes);
      }
      return await route.handle(request, inputReader(route)(request));
    } catch (error) {
      return found?.errorResponse?.(error, head) ?? conventions.errorResponse(error, head);
    }
  }

  #find(method: string, path: string): FoundRoute | undefined {
    for (const { pattern, ...found } of this.#routes) {
      const { route } = found;
      const match = route.method === method ? pattern.exec(path) : null;
      if (match === null) continue;
      const { rest, ...named } = match.groups ?? {};
      const raw = { ...named, ...(rest !== undefined && { '*': rest }) };
      try {
        const decoded = Object.entries(raw).map(([name, text]) => [name, decodeURIComponent(text)]);
        if (decoded.some(([, text]) => text?.includes('\0'))) return undefined;
        return { ...found, parameters: Object.fromEntries(decoded) };
      } catch {
        return undefined; // broken percent-encoding
      }
    }
    return undefined;
  }

  #methodsOf(path: string): readonly string[] {
    return METHODS.filter(
      (method) => this.#find(method === 'HEAD' ? 'GET' : method, path) !== undefined,
    );
  }
}

/** A parameter matches one path segment; `*` matches the rest. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)').replace('*', '(?<rest>.*)')}$`);

/** Literal segments take precedence over parameters. */
const orderOf = ({ path }: Route): string => path.replaceAll(/[:*]/g, '\uffff');
