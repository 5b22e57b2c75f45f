import {
  described,
  type HeaderList,
  type HttpRequest,
  type HttpResponse,
  invariant,
  OpenApi,
  type Random,
  type Route,
  type RouteDescription,
  type RouteDocs,
  type RouteInput,
  withHeaders,
} from '@plinth/kernel';
import type { MutationResponse } from '../domain/change/mutations.js';
import type { RequestContext } from '../domain/request-context.js';
import { AccountsRefused } from '../model/violation.js';
import { bodyRule, readFormOrJson, readJson } from './bodies.js';
import { type AccountsConventions, refuseEmptySegments } from './conventions.js';
import { bodyName, CHANGE_HEADERS, HANDLER_VALIDATION, VERSION_HEADER } from './description.js';
import { AS_PLATFORM_PATH, isV1Path, type RequestAuthenticator } from './request-authenticator.js';
import type { ShapeName } from './request-shapes.js';
import { jsonTextResponse } from './to-wire.js';

/** Arguments of a route handler. */
export interface Call {
  readonly context: RequestContext;
  readonly request: HttpRequest;
  /** Returns a path parameter. */
  param(name: string): string;
}

/** A response body with the entity tag of its object. */
export interface Tagged {
  readonly body: string;
  readonly etag: string;
}

/** Documentation of a route; `response` and `body` are schema names. */
export interface CallDocs extends Pick<RouteDocs, 'summary' | 'query'> {
  readonly response: string;
  readonly body?: ShapeName;
}

interface RouteOptions {
  /** Which keys may call the route. A publishable key can only create tokens. */
  readonly allows?: 'secret' | 'any';
  /**
   * Whether the call creates content, which has separate limits if the service is rate-limited.
   * Source: rate-limits, section 10.
   */
  readonly makesContent?: boolean;
}

export interface PlatformRouteDeps {
  readonly authenticator: RequestAuthenticator;
  readonly conventions: AccountsConventions;
  readonly random: Random;
  readonly maxBodyBytes: number;
  /** Stores the key and parameters of a request with an invalid shape. */
  storeRefused(context: RequestContext, body: unknown): Promise<void>;
}

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** Creates the platform routes with their common check order, response headers and access rules. */
export class PlatformRoutes {
  readonly #deps: PlatformRouteDeps;
  readonly #contexts = new WeakMap<object, RequestContext>();

  constructor(deps: PlatformRouteDeps) {
    this.#deps = deps;
  }

  get(path: string, docs: CallDocs, handle: (call: Call) => Promise<string | Tagged>): Route {
    const route = this.#route('GET', path, {}, async (call) => {
      const read = await handle(call);
      if (typeof read === 'string') return jsonTextResponse(read);
      return jsonTextResponse(read.body, [['etag', read.etag]]);
    });
    return { ...route, ...docsOf(docs, false), hasHead: false };
  }

  /** Returns a POST or DELETE route with an idempotency key, whose response may be a replay. */
  change(
    method: 'POST' | 'DELETE',
    path: string,
    docs: CallDocs,
    handle: (call: Call) => Promise<MutationResponse>,
    options: RouteOptions = {},
  ): Route {
    const route = this.#route(method, path, options, (call) => this.#change(call, handle));
    const body = bodyRule(this.#deps.maxBodyBytes);
    return { ...route, ...docsOf(docs, true), body };
  }

  /**
   * Returns the same route for operators, who act as the platform in the path without one of its
   * keys.
   */
  forOperators({ cost: _, ...route }: Route): Route {
    return {
      ...route,
      path: `${AS_PLATFORM_PATH}/:platform/:mode${route.path}`,
      access: 'admin',
      isAlias: true,
      check: (request) => {
        refuseEmptySegments(request);
        this.#contexts.set(request, this.#deps.authenticator.operatorContextOf(request));
      },
    };
  }

  #route(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    { allows = 'secret', makesContent = false }: RouteOptions,
    handle: (call: Call) => Promise<HttpResponse>,
  ): Omit<Route<RouteInput, 'platform'>, 'about' | 'output'> {
    return {
      method,
      path,
      access: 'platform',
      ...(makesContent && { cost: { content: true } }),
      check: (request) => {
        refuseEmptySegments(request);
        this.#contexts.set(request, this.#deps.authenticator.contextOf(request, allows));
      },
      handle: (request) => {
        const context = this.#contexts.get(request);
        invariant(context !== undefined, 'the request was not validated before its handler');
        const param = (name: string): string => request.parameters[name] ?? '';
        return handle({ context, request, param });
      },
    };
  }

  async #change(
    call: Call,
    handle: (call: Call) => Promise<MutationResponse>,
  ): Promise<HttpResponse> {
    const { conventions, random } = this.#deps;
    const { request } = call;
    const idempotencyKey = request.headers['idempotency-key'] ?? random.uuidV4();
    if (!IDEMPOTENCY_KEY.test(idempotencyKey)) {
      throw new AccountsRefused({
        code: 'invalid_idempotency_key',
        message: 'The idempotency key is not valid; use 1 to 255 printable ASCII characters.',
      });
    }
    // Error responses also contain the header.
    const answered = (response: HttpResponse): HttpResponse =>
      withHeaders(response, [['idempotency-key', idempotencyKey]]);
    const changing = { ...call, context: { ...call.context, idempotencyKey } };
    try {
      const { body, originalRequestId } = await this.#recordingRefusal(changing, handle);
      return answered(jsonTextResponse(body, repeatHeaders(originalRequestId)));
    } catch (error) {
      return answered(conventions.errorResponse(error, request));
    }
  }

  async #recordingRefusal(
    call: Call,
    handle: (call: Call) => Promise<MutationResponse>,
  ): Promise<MutationResponse> {
    try {
      return await handle(call);
    } catch (error) {
      const body = isShapeRefused(error) ? readAnyBody(call.request) : undefined;
      if (body !== undefined) await this.#deps.storeRefused(call.context, body);
      throw error;
    }
  }
}

const docsOf = ({ response, body, ...docs }: CallDocs, isChange: boolean): RouteDescription =>
  described(
    {
      ...docs,
      headers: isChange ? CHANGE_HEADERS : VERSION_HEADER,
      ...(body && { body: OpenApi.ref(bodyName(body)), isBodyOptional: true }),
      output: { 200: OpenApi.response('done', OpenApi.json(OpenApi.ref(response))) },
    },
    HANDLER_VALIDATION,
  );

const repeatHeaders = (originalRequestId: string | undefined): HeaderList =>
  originalRequestId === undefined
    ? []
    : [
        ['idempotent-replayed', 'true'],
        ['original-request', originalRequestId],
      ];

const isShapeRefused = (error: unknown): boolean =>
  error instanceof AccountsRefused && error.violation.code === 'invalid_fields';

/** Returns `undefined` if the body is not valid, in which case it cannot be repeated. */
function readAnyBody(request: HttpRequest): unknown {
  try {
    return isV1Path(request) ? readFormOrJson(request) : readJson(request);
  } catch (error) {
    if (error instanceof AccountsRefused) return undefined;
    throw error;
  }
}
