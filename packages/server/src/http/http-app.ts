import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RawRequest } from '@plinth/identity';
import {
  accessOf,
  CredentialUncheckable,
  createValidatorCompiler,
  type HttpService,
  type Logger,
  normalTarget,
  type Principal,
  type RequestGate,
  type RouteAccess,
  redactText,
  type ServiceFront,
  type Visitor,
} from '@plinth/kernel';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  fastify,
  LogController,
} from 'fastify';
import type { Cors } from './cors.js';
import { type FrontDesk, FrontDirectory } from './front-directory.js';
import { faultOfHead } from './head-fault.js';
import type { HttpMetrics } from './http-metrics.js';
import { type GuardedRoute, RouteGuard } from './route-guard.js';
import { answerClientError, answerError, answerHeadFault, answerNotFound } from './to-wire.js';

/** What stands between the socket and the services. */
export interface HttpAppParts {
  readonly log: Logger;
  readonly services: readonly HttpService[];
  /** Value of the `cluster-uuid` header. */
  clusterUuid(): string;
  /** Who the request speaks for; synchronous because every request pays for it. Throws a domain error. */
  authenticate(request: RawRequest, access: RouteAccess | undefined): Principal;
  /** Whether a request that speaks for `principal` may use a route. */
  grants(access: RouteAccess | undefined, principal: Principal | undefined): boolean;
  /** Which web pages may read answers of what no service has a front for. */
  readonly cors: Cors;
  readonly gate: RequestGate | undefined;
  readonly metrics: HttpMetrics;
  /** True once the server is stopping: connections are not kept. */
  isDraining(): boolean;
}

/** From the first byte of a request to its last: a body of the usual limit passes at 35 kB/s. */
const REQUEST_TIMEOUT_MS = 300_000;

/** From the first byte of a request to the last of its head. */
const HEAD_TIMEOUT_MS = 15_000;

/** How often connections are looked at whose time is over. */
const CHECKING_INTERVAL_MS = 5_000;

/** Request line and headers: dashboards send long queries in the URL. */
const MAX_HEADER_SIZE_BYTES = 65_536;

/** For routes that set no limit of their own. */
const MAX_BODY_SIZE_BYTES = 1_048_576;

/**
 * Without these Fastify loads compilers of its own (ajv and more), which was a sixth of the CPU time of a start.
 * Answers are serialised by the services themselves. The declared types are those of ajv's factory.
 */
const OWN_COMPILERS = {
  buildValidator: (() => createValidatorCompiler()) as unknown as ValidatorFactory,
  buildSerializer: (() => () => JSON.stringify) as unknown as SerializerFactory,
};
type Factories = NonNullable<
  NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']
>;
type ValidatorFactory = NonNullable<Factories['buildValidator']>;
type SerializerFactory = NonNullable<Factories['buildSerializer']>;

/**
 * One Fastify instance for all services, which `registerServices` puts there. Order on every request: preflight,
 * authentication (which also answers for disabled endpoints), gate, routing. Source: tsdb-http, sections 1 and 2.
 */
export function createHttpApp(parts: HttpAppParts): FastifyInstance {
  const app = fastify({
    loggerInstance: parts.log as FastifyBaseLogger, // pino's logger is one; the type parameter would spread
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request would cost more than all hooks together.
    childLoggerFactory: (logger) => logger,
    bodyLimit: MAX_BODY_SIZE_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: {
      maxHeaderSize: MAX_HEADER_SIZE_BYTES,
      headersTimeout: HEAD_TIMEOUT_MS,
      connectionsCheckingInterval: CHECKING_INTERVAL_MS,
      requireHostHeader: false, // answered with the headers of every answer, which Node's own refusal lacks
    },
    schemaController: { compilersFactory: OWN_COMPILERS },
    rewriteUrl: ({ url = '/' }) => normalTarget(url),
    // What fits into a request line reaches its route, so that an id of any length is one that nobody has.
    routerOptions: { maxParamLength: MAX_HEADER_SIZE_BYTES, ignoreTrailingSlash: false },
    clientErrorHandler: (error, socket) => {
      answerClientError(error, socket, answerHeaderLines(parts.clusterUuid(), parts.cors));
    },
    // A path that cannot be decoded is one that does not exist; it comes here before any hook.
    frameworkErrors: (_error, request, reply) => {
      const desk = fronts.find(request.url);
      desk.front.setHeaders?.(request, reply);
      const fault = faultOfHead(request.raw);
      if (fault !== undefined) {
        answerHeadFault(fault, request, reply);
        return;
      }
      whenAdmitted(desk, request, reply, () => desk.front.answerNotFound(request, reply));
    },
  });
  // Goes the way of every request, and is refused there.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  const { gate } = parts;
  const fronts = new FrontDirectory(parts.services, defaultDesk(parts), gate);
  // Assigned by the first hook; declared here so that all requests have one shape.
  app.decorateRequest('principal');
  app.decorateRequest('rateLimit');
  app.setErrorHandler((error, request, reply) => answerError(error, parts.log, request, reply));
  app.setNotFoundHandler((request, reply) =>
    fronts.find(request.url).front.answerNotFound(request, reply),
  );

  app.addHook('onRequest', (request, reply, done) => {
    const desk = fronts.find(request.url);
    desk.front.setHeaders?.(request, reply);
    const fault = faultOfHead(request.raw);
    if (fault !== undefined) {
      answerHeadFault(fault, request, reply);
      return;
    }
    if (request.raw.httpVersionMajor === 1 && (parts.isDraining() || asksForUpgrade(request))) {
      reply.header('connection', 'close');
    }
    whenAdmitted(desk, request, reply, done);
  });
  // Before the body is parsed: one that nobody reads is no reason for another answer.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) fronts.find(request.url).front.answerNotFound(request, reply);
    else done();
  });
  const logsRequests = parts.log.isLevelEnabled('debug');
  app.addHook('onResponse', (request, reply, done) => {
    parts.metrics.observe(request, reply);
    if (logsRequests) {
      const { method, url } = request;
      const fields = { method, url: redactText(url), status: reply.statusCode };
      parts.log.debug({ ...fields, durationMs: reply.elapsedTime }, 'request');
    }
    done();
  });
  return app;
}

/**
 * Makes the routes of services that have started, one service after the other; until it has resolved no request may reach
 * `app`.
 * @returns all of them, with who may use them.
 */
export async function registerServices(
  app: FastifyInstance,
  parts: HttpAppParts,
  order: {
    /** Hears of each service when its routes are made, and before those of the next. */
    onRegistered(service: HttpService): void;
    /** Waited for before the routes of each service. */
    turn(): Promise<unknown>;
  } = { onRegistered() {}, turn: nextTurn },
): Promise<readonly GuardedRoute[]> {
  const { gate, services } = parts;
  const fronts = new FrontDirectory(services, defaultDesk(parts), gate);
  const guard = new RouteGuard({
    grants: (access, principal) => parts.grants(access, principal),
    refuse: (error, request, reply) =>
      fronts.find(request.url).front.answerError(error, request, reply),
  });
  for (const service of services) {
    await order.turn();
    await app.register(async (scope) => {
      guard.watch(scope, service.name);
      if (gate?.covers(service.name)) gate.watch(scope, service.name);
      await service.register(scope);
    });
    order.onRegistered(service);
  }
  await app.ready();
  return guard.routes;
}

/** The headers of every answer behind the server's own front to a request without an origin, as lines with their ends. */
export function answerHeaderLines(clusterUuid: string, cors: Cors): string {
  const lines = Object.entries(cors.headersFor(undefined)).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `cluster-uuid: ${clusterUuid}\r\n${lines.join('')}`;
}

/** The parser stops behind such a request, and takes what comes next for the beginning of another. */
const asksForUpgrade = ({ headers }: FastifyRequest): boolean => headers.upgrade !== undefined;

/** Answers preflights and requests without a right to be here; all others go on to `proceed`. */
function whenAdmitted(
  desk: FrontDesk,
  request: FastifyRequest,
  reply: FastifyReply,
  proceed: () => void,
): void {
  const { front } = desk;
  if (request.method === 'OPTIONS' && front.answerPreflight !== undefined) {
    const answer = (): void => void front.answerPreflight?.(request, reply);
    passGate(desk, request, reply, { principal: undefined, purpose: 'preflight' }, answer);
    return;
  }
  const admit = (principal: Principal): void => {
    request.principal = principal;
    passGate(desk, request, reply, { principal, purpose: 'request' }, proceed);
  };
  // Answered here, not by the route's own handler: whether a path exists must not show without a credential.
  const refuse = (error: unknown): void => {
    // It may be right, so it counts against nobody.
    const isUncheckable = error instanceof CredentialUncheckable;
    if (isUncheckable) reply.header('retry-after', String(error.retryAfterSec));
    const purpose = isUncheckable ? 'uncheckable' : 'refusal';
    const answer = (): void => void front.answerError(error, request, reply);
    passGate(desk, request, reply, { principal: undefined, purpose }, answer);
  };
  let found: Principal | Promise<Principal>;
  try {
    found = front.authenticate(request);
  } catch (error) {
    refuse(error);
    return;
  }
  if (found instanceof Promise) found.then(admit, refuse);
  else admit(found);
}

/** Calls `proceed` unless the gate has answered. */
function passGate(
  { service, front, gate }: FrontDesk,
  request: FastifyRequest,
  reply: FastifyReply,
  visitor: Pick<Visitor, 'principal' | 'purpose'>,
  proceed: () => void,
): void {
  if (gate === undefined) {
    proceed();
    return;
  }
  const passes = gate.admit(request, reply, { ...visitor, service, front });
  if (passes === true) {
    proceed();
  } else if (passes instanceof Promise) {
    passes.then(
      (isAdmitted) => {
        if (isAdmitted) proceed();
      },
      (error) => front.answerError(error, request, reply),
    );
  }
}

/** What no service has a front for: admin tokens, the time-series dialect and its headers. */
function defaultDesk(parts: HttpAppParts): FrontDesk {
  const service = 'tsdb';
  const gate = parts.gate?.covers(service) ? parts.gate : undefined;
  return { service, gate, front: defaultFront(parts) };
}

function defaultFront(parts: HttpAppParts): ServiceFront {
  return {
    // Named, because another service may have a front for all of `/api`.
    paths: ['/api/v1', '/api/v2', '/api/v3'],
    authenticate: (request) => parts.authenticate(request.raw, accessOf(request)),
    answerError: (error, request, reply) => answerError(error, parts.log, request, reply),
    answerNotFound: (_request, reply) => answerNotFound(reply),
    setHeaders({ headers }, reply) {
      reply.header('cluster-uuid', parts.clusterUuid());
      reply.headers(parts.cors.headersFor(headers.origin));
    },
    answerPreflight: ({ headers }, reply) =>
      reply.code(204).headers(parts.cors.preflightFor(headers.origin)).send(),
  };
}
