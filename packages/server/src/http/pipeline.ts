import {
  AppJwtRefused,
  answerHeadFault,
  type Clock,
  type Dialect,
  decodeBody,
  type HeldBodies,
  type HttpAnswer,
  type Logger,
  type Principal,
  pathOf,
  type RequestGate,
  type Route,
  type RouteAccess,
  redactTarget,
  requestError,
  ServerBusy,
} from '@plinth/kernel';
import type { DialectDirectory } from './dialect-directory.js';
import { Exchange, sizeOf } from './exchange.js';
import type { RouteNumbers } from './http-metrics.js';
import { type Caller, identify } from './identify.js';
import type { IncomingRequest } from './incoming-request.js';
import type { Router } from './router.js';
import { StandInRequest } from './stand-in-request.js';

export interface PipelineParts {
  readonly router: Router;
  readonly dialects: DialectDirectory;
  /** `undefined`: nothing is limited. */
  readonly gate: RequestGate | undefined;
  /** Whether a request that speaks for `principal` may use a route. */
  grants(access: RouteAccess, principal: Principal | undefined): boolean;
  /** Of requests that no route has. */
  readonly unmatched: RouteNumbers;
  readonly bodies: HeldBodies;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The one way of every request, whatever brought its bytes: route, caller, limits, access, body, handler, answer. Waits only
 * where somebody has to be waited for.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #logsRequests: boolean;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#logsRequests = parts.log.isLevelEnabled('debug');
  }

  /** `undefined`: nothing is said, the connection ends. */
  async answer(request: IncomingRequest): Promise<Exchange | undefined> {
    const exchange = this.#route(request);
    if (request.fault !== undefined) return exchange.turnAway(answerHeadFault(request.fault));
    const identified = identify(exchange);
    const caller = identified instanceof Promise ? await identified : identified;
    const admitting = this.#admit(exchange, caller);
    const refused = admitting instanceof Promise ? await admitting : admitting;
    if (refused !== undefined) {
      return refused.refusal && exchange.turnAway(refused.refusal);
    }
    try {
      const answered = this.#handle(exchange, caller);
      return exchange.settle(answered instanceof Promise ? await answered : answered);
    } finally {
      exchange.request.held?.release();
    }
  }

  /** @param speaker in whose place a stored request is answered: its headers stay. */
  #route(request: IncomingRequest, speaker?: Dialect): Exchange {
    const { router, dialects, clock } = this.#parts;
    const found = router.find(request.method, pathOf(request.url));
    const dialect = found?.served.table.dialect ?? dialects.of(request);
    const stored = request.fault === undefined && found?.served.route.standsFor?.(found.parameters);
    if (stored) return this.#route(new StandInRequest(request, stored), dialect);
    const onGone = (exchange: Exchange): void => this.#count(exchange);
    const startMs = clock.monotonicMs();
    return new Exchange(request, { dialect, speaker, found, startMs, onGone });
  }

  /** @returns what is said instead of an answer, if it is not let in. */
  #admit(exchange: Exchange, caller: Caller): Refusal | Promise<Refusal> {
    const { gate } = this.#parts;
    const { request, dialect, found, headers } = exchange;
    if (gate?.covers(dialect.service) !== true) return undefined;
    const decide = (admitted: Awaited<ReturnType<RequestGate['admit']>>): Refusal => {
      if ('refusal' in admitted) return admitted;
      exchange.pass = admitted;
      return undefined;
    };
    const { principal, purpose } = caller;
    const route = found?.served.route;
    const admitted = gate.admit({ request, dialect, headers, route, principal, purpose });
    return admitted instanceof Promise ? admitted.then(decide) : decide(admitted);
  }

  #handle(exchange: Exchange, caller: Caller): Answering {
    const { request, dialect, found, pass } = exchange;
    const { router, grants } = this.#parts;
    if ('error' in caller && (found !== undefined || dialect.tellsPaths !== true)) {
      return dialect.answerError(caller.error, request);
    }
    if (found === undefined || caller.principal === undefined) {
      return answerUnrouted(exchange, router.methodsOf(pathOf(request.url)));
    }
    const { route, table, readInput } = found.served;
    if (!grants(route.access, caller.principal)) {
      return dialect.answerError(refusalOf(route.access, caller.principal), request);
    }
    request.principal = caller.principal;
    request.parameters = found.parameters;
    const handle = (body: Uint8Array): Answering => {
      request.body = body;
      pass?.begin();
      return route.handle(request, readInput(request));
    };
    // Whatever is thrown is worded by the service that was meant.
    const word = (error: unknown): HttpAnswer =>
      table.answerError?.(error, request) ?? dialect.answerError(error, request);
    try {
      route.check?.(request);
      const body = bodyOf(request, route, this.#parts.bodies);
      const answer = body instanceof Promise ? body.then(handle) : handle(body);
      return answer instanceof Promise ? answer.catch(word) : answer;
    } catch (error) {
      return word(error);
    }
  }

  #count({ request, found, answer, startMs }: Exchange): void {
    if (answer === undefined) return;
    const { clock, log, unmatched } = this.#parts;
    const durationMs = clock.monotonicMs() - startMs;
    const { status } = answer;
    (found?.served.numbers ?? unmatched).count({ status, durationMs, sizeBytes: sizeOf(answer) });
    if (!this.#logsRequests) return;
    const { method, url } = request;
    log.debug({ method, url: redactTarget(url), status, durationMs }, 'request');
  }
}

type Answering = HttpAnswer | Promise<HttpAnswer>;
type Refusal = { readonly refusal: HttpAnswer | undefined } | undefined;

/** Answers a preflight, or a path or method that nobody has: the one place that says which methods there are. */
function answerUnrouted({ request, dialect }: Exchange, methods: readonly string[]): HttpAnswer {
  const preflight = dialect.answerPreflight?.(request, methods);
  if (preflight !== undefined && request.method === 'OPTIONS') return preflight;
  const hasMore = methods.length > 0 && preflight !== undefined;
  return dialect.answerNotFound(request, hasMore ? [...methods, 'OPTIONS'] : methods);
}

/** The body as its route takes it. */
function bodyOf(
  request: IncomingRequest,
  { body: rule }: Route,
  bodies: HeldBodies,
): Uint8Array | Promise<Uint8Array> {
  if (rule === undefined) return request.body;
  const counted = (body: Uint8Array): Uint8Array => {
    request.held ??= bodies.begin(request.principal);
    if (!request.held.add(body.byteLength)) throw new ServerBusy();
    return body;
  };
  const encoding = rule.isLeftEncoded === true ? undefined : request.headers['content-encoding'];
  const decoded = (sent: Uint8Array) => {
    const body = decodeBody(sent, encoding, rule.maxBytes);
    return body instanceof Promise ? body.then(counted) : body;
  };
  const sent = request.readBody(rule, bodies);
  return sent instanceof Promise ? sent.then(decoded) : decoded(sent);
}

/** Whether a path exists must not show, so the refusal is that of somebody unknown; but for those who are known to this dialect. */
function refusalOf(access: RouteAccess, principal: Principal): Error {
  if (access === 'app') return new AppJwtRefused('undecodable');
  return requestError(principal.kind === 'grantee' ? 'not_permitted' : 'not_authenticated');
}
