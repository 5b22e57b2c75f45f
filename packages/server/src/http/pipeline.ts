import {
  type ApiConventions,
  type BodyBudget,
  type Clock,
  type HttpResponse,
  headFaultResponse,
  invariant,
  type Logger,
  type Principal,
  pathOf,
  type RequestGate,
  type RequestSpan,
  type RouteAccess,
  redactTarget,
  refusalOf,
  requestIdOf,
} from '@plinth/kernel';
import type { AccessLog } from './access-log.js';
import type { ConventionsDirectory } from './conventions-directory.js';
import { Exchange, sizeOf } from './exchange.js';
import { FailedLogins } from './failed-logins.js';
import type { RouteMetrics } from './http-metrics.js';
import { type AuthResult, identify } from './identify.js';
import { IncomingDownload } from './incoming-download.js';
import type { IncomingRequest } from './incoming-request.js';
import type { RequestSpans } from './request-spans.js';
import { readRouteBody } from './route-body.js';
import type { Router } from './router.js';

export interface PipelineDeps {
  readonly router: Router;
  readonly conventionsDirectory: ConventionsDirectory;
  /** `undefined` without rate limits. */
  readonly gate: RequestGate | undefined;
  /** Whether `principal` may use a route. */
  grants(access: RouteAccess, principal: Principal | undefined): boolean;
  /** Metrics of requests without a route. */
  readonly unmatched: RouteMetrics;
  readonly bodies: BodyBudget;
  readonly clock: Clock;
  readonly log: Logger;
  /** `undefined` without an access log. */
  readonly accessLog?: AccessLog | undefined;
  /** `undefined`: no tracing. */
  readonly spans?: RequestSpans | undefined;
}

/**
 * The request pipeline of all transports: route, caller, limits, access, body, handler, response. Awaits only where necessary.
 */
export class Pipeline {
  readonly #deps: PipelineDeps;
  readonly #failedLogins: FailedLogins;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
    this.#failedLogins = new FailedLogins(deps.clock, deps.log);
  }

  /** Returns the response; `undefined` if the connection is closed without one. */
  async respond(request: IncomingRequest): Promise<Exchange | undefined> {
    const exchange = this.#route(request);
    if (request.fault !== undefined) return exchange.reject(headFaultResponse(request.fault));
    const identified = identify(exchange);
    const auth = identified instanceof Promise ? await identified : identified;
    const admitting = this.#admit(exchange, auth);
    const admitted = admitting instanceof Promise ? await admitting : admitting;
    if (admitted !== undefined && 'refusal' in admitted) {
      if (admitted.refusal === undefined) return undefined;
      return this.#noteResponse(exchange.reject(admitted.refusal), auth);
    }
    exchange.pass = admitted;
    try {
      const answered = this.#handle(exchange, auth);
      exchange.setResponse(answered instanceof Promise ? await answered : answered);
      return this.#noteResponse(exchange, auth);
    } finally {
      exchange.request.bodyReservation?.release();
    }
  }

  /** Counts a failed login, and lets the access log wait for the end of the response. */
  #noteResponse(exchange: Exchange, auth: AuthResult): Exchange {
    if (auth.authOutcome === 'refusal') this.#failedLogins.note(exchange);
    this.#deps.accessLog?.watch(exchange);
    return exchange;
  }

  /** @param outerConventions API conventions of the request of a download URL; its headers are kept. */
  #route(request: IncomingRequest, outerConventions?: ApiConventions): Exchange {
    const { router, conventionsDirectory, clock } = this.#deps;
    const match = router.find(request.method, pathOf(request.url));
    const conventions = match?.registered.table.conventions ?? conventionsDirectory.of(request);
    const download =
      request.fault === undefined && match?.registered.route.downloadOf?.(match.parameters);
    // A one-time download URL is replaced by the query that it was created for.
    if (download) return this.#route(new IncomingDownload(request, download), conventions);
    const onClosed = (exchange: Exchange): void => this.#count(exchange);
    const startMs = clock.monotonicMs();
    const exchange = new Exchange(request, {
      conventions,
      outerConventions,
      match,
      startMs,
      onClosed,
    });
    exchange.span = this.#deps.spans?.begin(exchange);
    return exchange;
  }

  /** Returns the limiter's decision; `undefined` if no limiter applies. */
  #admit(
    { request, conventions, match, headers }: Exchange,
    { principal, authOutcome }: AuthResult,
  ): Admitting {
    const { gate } = this.#deps;
    if (gate?.covers(conventions.service) !== true) return undefined;
    const route = match?.registered.route;
    return gate.admit({ request, conventions, headers, route, principal, authOutcome });
  }

  #handle(exchange: Exchange, auth: AuthResult): Answering {
    const { request, conventions, match, pass } = exchange;
    const { router, grants } = this.#deps;
    if ('error' in auth && (match !== undefined || conventions.revealsPaths !== true)) {
      return conventions.errorResponse(auth.error, request);
    }
    if (match === undefined || auth.principal === undefined) {
      return unroutedResponse(exchange, router.methodsOf(pathOf(request.url)));
    }
    const { route, table, readInput } = match.registered;
    request.principal = auth.principal;
    if (!grants(route.access, auth.principal)) {
      return conventions.errorResponse(refusalOf(route.access, auth.principal), request);
    }
    request.parameters = match.parameters;
    const handle = (body: Uint8Array): Answering => {
      request.body = body;
      pass?.begin();
      const { span } = exchange;
      if (span === undefined) return route.handle(request, readInput(request));
      return this.#handleTraced(span, () => route.handle(request, readInput(request)));
    };
    // Errors are formatted by the service of the path.
    const formatError = (error: unknown): HttpResponse =>
      table.errorResponse?.(error, request) ?? conventions.errorResponse(error, request);
    try {
      route.check?.(request);
      const body = readRouteBody(request, route, this.#deps.bodies);
      const response = body instanceof Promise ? body.then(handle) : handle(body);
      return response instanceof Promise ? response.catch(formatError) : response;
    } catch (error) {
      return formatError(error);
    }
  }

  /** Flight handlers start in `takeOver`, so it also runs in the context of the span. */
  #handleTraced(span: RequestSpan, handle: () => Answering): Answering {
    const { spans } = this.#deps;
    invariant(spans !== undefined, 'a span requires configured tracing');
    const traced = (response: HttpResponse): HttpResponse => {
      const { takeOver } = response;
      if (takeOver === undefined) return response;
      return { ...response, takeOver: (...args) => spans.run(span, () => takeOver(...args)) };
    };
    const response = spans.run(span, handle);
    return response instanceof Promise ? response.then(traced) : traced(response);
  }

  #count(exchange: Exchange): void {
    const { request, match, response, startMs } = exchange;
    const { clock, log, unmatched, accessLog } = this.#deps;
    const durationMs = clock.monotonicMs() - startMs;
    accessLog?.note(exchange, durationMs);
    if (exchange.span !== undefined) this.#deps.spans?.end(exchange.span, exchange);
    if (response === undefined) return;
    const { status } = response;
    (match?.registered.metrics ?? unmatched).count({
      status,
      durationMs,
      sizeBytes: sizeOf(response),
    });
    if (!log.isLevelEnabled('debug')) return;
    const { method, url } = request;
    const requestId = requestIdOf(request.headers);
    log.debug({ method, url: redactTarget(url), status, durationMs, requestId }, 'request');
  }
}

type Answering = HttpResponse | Promise<HttpResponse>;
type Admitting = ReturnType<RequestGate['admit']> | undefined;

/** Responds to a preflight, or to an unknown path or method. The API conventions decide which methods a preflight lists (`Cors`). */
function unroutedResponse(
  { request, conventions }: Exchange,
  methods: readonly string[],
): HttpResponse {
  const preflight = conventions.preflightResponse?.(request, methods);
  if (preflight !== undefined && request.method === 'OPTIONS') return preflight;
  const hasMore = methods.length > 0 && preflight !== undefined;
  return conventions.notFoundResponse(request, hasMore ? [...methods, 'OPTIONS'] : methods);
}
