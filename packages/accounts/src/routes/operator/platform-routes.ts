import {
  described,
  type HeaderList,
  type HttpAnswer,
  type HttpRequest,
  invariant,
  OpenApi,
  type Random,
  type Route,
  type RouteDescription,
  type RouteDocs,
  type RouteInput,
  withHeaders,
} from '@plinth/kernel';
import type { MutationAnswer } from '../../domain/change/mutations.js';
import type { RequestContext } from '../../domain/request-context.js';
import { AccountsRefused } from '../../model/violation.js';
import { bodyRule, readFormOrJson, readJson } from '../bodies.js';
import { bodyName, CHANGE_HEADERS, JUDGED, VERSION_HEADER } from '../description.js';
import { type AccountsDialect, refuseEmptyParts } from '../dialect.js';
import type { RequestAuthenticator } from '../request-authenticator.js';
import type { ShapeName } from '../request-shapes.js';
import { jsonTextAnswer } from '../to-wire.js';

/** What a route's handler gets. */
export interface Call {
  readonly context: RequestContext;
  readonly request: HttpRequest;
  /** Part of the path, by name. */
  param(name: string): string;
}

/** What a route is described as: its answer and its body by the names of their schemas. */
export interface CallDocs extends Pick<RouteDocs, 'summary' | 'query'> {
  readonly answer: string;
  readonly body?: ShapeName;
}

interface RouteOptions {
  /** Which keys may call; a publishable key makes tokens only. */
  readonly allows?: 'secret' | 'any';
  /** Makes content, which has limits of its own where the service is limited. Source: rate-limits, section 10. */
  readonly makesContent?: boolean;
}

export interface PlatformRouteDeps {
  readonly authenticator: RequestAuthenticator;
  readonly dialect: AccountsDialect;
  readonly random: Random;
  readonly maxBodyBytes: number;
  /** Remembers the key and the parameters of a request whose shape is refused. */
  noteRefused(context: RequestContext, body: unknown): Promise<void>;
}

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** Makes routes with what all of a platform share: the order of checks, headers of the answer, who may call. */
export class PlatformRoutes {
  readonly #needs: PlatformRouteDeps;
  readonly #contexts = new WeakMap<object, RequestContext>();

  constructor(needs: PlatformRouteDeps) {
    this.#needs = needs;
  }

  get(path: string, docs: CallDocs, handle: (call: Call) => Promise<string>): Route {
    const route = this.#route('GET', path, {}, async (call) => jsonTextAnswer(await handle(call)));
    return { ...route, ...docsOf(docs, false), hasHead: false };
  }

  /** POST and DELETE: with an idempotency key, and an answer that may be a repeat. */
  change(
    method: 'POST' | 'DELETE',
    path: string,
    docs: CallDocs,
    handle: (call: Call) => Promise<MutationAnswer>,
    options: RouteOptions = {},
  ): Route {
    const route = this.#route(method, path, options, (call) => this.#change(call, handle));
    const body = bodyRule(this.#needs.maxBodyBytes);
    return { ...route, ...docsOf(docs, true), body };
  }

  #route(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    { allows = 'secret', makesContent = false }: RouteOptions,
    handle: (call: Call) => Promise<HttpAnswer>,
  ): Omit<Route<RouteInput, 'platform'>, 'about' | 'output'> {
    return {
      method,
      path,
      access: 'platform',
      ...(makesContent && { cost: { content: true } }),
      check: (request) => {
        refuseEmptyParts(request);
        this.#contexts.set(request, this.#needs.authenticator.contextOf(request, allows));
      },
      handle: (request) => {
        const context = this.#contexts.get(request);
        invariant(context !== undefined, 'a request is checked before it is handled');
        const param = (name: string): string => request.parameters[name] ?? '';
        return handle({ context, request, param });
      },
    };
  }

  async #change(call: Call, handle: (call: Call) => Promise<MutationAnswer>): Promise<HttpAnswer> {
    const { dialect, random } = this.#needs;
    const { request } = call;
    const idempotencyKey = request.headers['idempotency-key'] ?? random.uuidV4();
    if (!IDEMPOTENCY_KEY.test(idempotencyKey)) {
      throw new AccountsRefused({
        code: 'invalid_idempotency_key',
        message: 'An idempotency key has 1 to 255 printable ASCII characters.',
      });
    }
    // Refusals name it, too.
    const answered = (answer: HttpAnswer): HttpAnswer =>
      withHeaders(answer, [['idempotency-key', idempotencyKey]]);
    const changing = { ...call, context: { ...call.context, idempotencyKey } };
    try {
      const { body, originalRequestId } = await this.#noting(changing, handle);
      return answered(jsonTextAnswer(body, repeatHeaders(originalRequestId)));
    } catch (error) {
      return answered(dialect.answerError(error, request));
    }
  }

  async #noting(
    call: Call,
    handle: (call: Call) => Promise<MutationAnswer>,
  ): Promise<MutationAnswer> {
    try {
      return await handle(call);
    } catch (error) {
      const body = isShapeRefused(error) ? readAnyBody(call.request) : undefined;
      if (body !== undefined) await this.#needs.noteRefused(call.context, body);
      throw error;
    }
  }
}

const docsOf = ({ answer, body, ...docs }: CallDocs, isChange: boolean): RouteDescription =>
  described(
    {
      ...docs,
      headers: isChange ? CHANGE_HEADERS : VERSION_HEADER,
      ...(body && { body: OpenApi.ref(bodyName(body)), isBodyOptional: true }),
      output: { 200: OpenApi.answer('done', OpenApi.json(OpenApi.ref(answer))) },
    },
    JUDGED,
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

/** `undefined`: none that could be repeated. */
function readAnyBody(request: HttpRequest): unknown {
  try {
    return request.url.startsWith('/v1/') ? readFormOrJson(request) : readJson(request);
  } catch (error) {
    if (error instanceof AccountsRefused) return undefined;
    throw error;
  }
}
