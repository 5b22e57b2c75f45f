import {
  bytesResponse,
  type Clock,
  docsBaseAt,
  type GateRequest,
  type HeaderList,
  type HttpHead,
  loginOfUrl,
  type Pass,
  type Refused,
  type RequestGate,
  type Route,
  type RouteCost,
} from '@plinth/kernel';
import { type RateLimitConfig, type ServiceRule, serviceRule } from '../../config.js';
import type { Limiter } from '../../domain/limiter.js';
import type { LoginGuard } from '../../domain/login-guard.js';
import type { Caller } from '../../model/caller.js';
import { ANY_ENDPOINT } from '../../model/endpoint.js';
import { makePlan, type Plan } from '../../model/plan.js';
import type { RouteListing } from '../route-listing.js';
import {
  admitRequest,
  type FormattedRefusal,
  type LimitedRequest,
  orUnavailable,
  UNLIMITED,
} from './admit-request.js';
import { ConnectionGuard } from './connection-guard.js';
import { loginRefusal, type RefusalContext } from './refusal.js';

export interface HttpGateDeps {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
  readonly logins: LoginGuard;
  readonly routes: RouteListing;
  readonly clock: Clock;
}

const OPERATOR_PREFIX = '/ops/';
/** Services whose routes exist with and without the prefix; both forms are one endpoint. */
const ALIASED_SERVICES: ReadonlySet<string> = new Set(['webhooks', 'ratelimit']);
const ALIAS_PREFIX = '/api/v3/';
const NO_HEADERS: HeaderList = [];

const CLOSE_CONNECTION: Refused = { refusal: undefined };

type Decision = Pass | Refused;
type Admitted = Pass | FormattedRefusal;

/**
 * Applies rate limits before requests reach their services. Source: rate-limits, sections 2, 5 and
 * 11.
 */
export class HttpGate implements RequestGate {
  readonly #deps: HttpGateDeps;
  readonly #rules = new Map<string, ServiceRule>();
  /** Plans by route. Each method has its own route, except HEAD, which costs as much as its GET. */
  readonly #plans = new WeakMap<Route, Plan | 'exempt'>();
  /** Plans of requests without a route, by service and method. */
  readonly #unrouted = new Map<string, Plan>();
  readonly #connections: ConnectionGuard | undefined;

  constructor(deps: HttpGateDeps) {
    this.#deps = deps;
    const { ban_enabled, ban_ip_connections, shadow } = deps.config;
    this.#connections =
      ban_enabled && !shadow ? new ConnectionGuard(ban_ip_connections) : undefined;
  }

  covers(service: string): boolean {
    return this.#ruleOf(service).isEnabled;
  }

  registerRoutes(service: string, routes: readonly Route[]): void {
    for (const route of routes) {
      this.#deps.routes.add(service, route, this.#routePlan(route, service));
    }
  }

  admit(gateRequest: GateRequest): Decision | Promise<Decision> {
    const { logins } = this.#deps;
    const { request } = gateRequest;
    const { client } = request;
    const isWrong = gateRequest.authOutcome === 'refusal' && presentsCredential(request);
    if (isWrong && !logins.noteFailure(client.key)) {
      const refusal = loginRefusal(this.#contextOf(gateRequest));
      return this.#refuse(gateRequest, { refusal, headers: NO_HEADERS });
    }
    const plan = this.#planOf(gateRequest);
    if (plan === 'exempt' || this.#isExempt(gateRequest)) return UNLIMITED;
    const caller = this.#callerOf(gateRequest);
    if (!this.#mayConnect(caller, request)) return CLOSE_CONNECTION;
    const limited: LimitedRequest = {
      caller,
      plan,
      service: gateRequest.conventions.service,
      context: () => this.#contextOf(gateRequest),
    };
    const admit = (): Admitted | Promise<Admitted> => admitRequest(this.#deps, limited);
    const refuse = (admitted: Admitted): Decision =>
      'refusal' in admitted ? this.#refuse(gateRequest, admitted) : admitted;
    // Banned callers stay rejected; others are not charged for a credential that the server could
    // not check.
    const admitted =
      gateRequest.authOutcome === 'uncheckable' ? this.#unlessBanned(limited, admit) : admit();
    return admitted instanceof Promise ? admitted.then(refuse) : refuse(admitted);
  }

  #unlessBanned(
    limited: LimitedRequest,
    admit: () => Admitted | Promise<Admitted>,
  ): Admitted | Promise<Admitted> {
    return orUnavailable(
      limited,
      () => this.#deps.limiter.store.banOf(limited.caller.key),
      (ban) => (ban === undefined ? UNLIMITED : admit()),
    );
  }

  #isExempt({ principal, request }: GateRequest): boolean {
    if (request.client.isExempt) return true;
    return principal?.kind === 'app' && this.#deps.config.app_jwt === 'exempt';
  }

  /** Connections of a proxy do not count, because they belong to many clients. */
  #mayConnect(caller: Caller, { client, socket }: HttpHead): boolean {
    if (caller.identityClass !== 'ip' || client.isForwarded) return true;
    return this.#connections?.admits(caller.key, socket) !== false;
  }

  #callerOf({ principal, request: { client } }: GateRequest): Caller {
    const { callers } = this.#deps.limiter;
    const identified = principal === undefined ? undefined : callers.ofPrincipal(principal);
    return identified ?? callers.ofAddress(client.key, client.address);
  }

  #contextOf({ request, conventions, headers }: GateRequest): RefusalContext {
    const { config } = this.#deps;
    const idHeader = `x-${config.vendor_name.toLowerCase()}-request-id`;
    return {
      config,
      rule: this.#ruleOf(conventions.service),
      docsBase: docsBaseAt(config, request.base),
      requestId: headers.find(([name]) => name === idHeader)?.[1],
    };
  }

  #refuse({ request, conventions }: GateRequest, { refusal, headers }: FormattedRefusal): Refused {
    const { status, contentType, retryAfterSec, body } = refusal;
    const bytes = Buffer.from(JSON.stringify(conventions.formatRefusal?.(body) ?? body));
    const retry: HeaderList =
      retryAfterSec === undefined ? NO_HEADERS : [['retry-after', String(retryAfterSec)]];
    const conventionsHeaders = conventions.refusalHeaders?.(request) ?? NO_HEADERS;
    return {
      refusal: bytesResponse(status, contentType, bytes, [
        ...conventionsHeaders,
        ...headers,
        ...retry,
      ]),
    };
  }

  #ruleOf(service: string): ServiceRule {
    let rule = this.#rules.get(service);
    if (rule === undefined) {
      rule = serviceRule(this.#deps.config, service);
      this.#rules.set(service, rule);
    }
    return rule;
  }

  #planOf({ request, route, conventions }: GateRequest): Plan | 'exempt' {
    if (route === undefined) return this.#unroutedPlan(request.method, conventions.service);
    let plan = this.#plans.get(route);
    if (plan === undefined) {
      plan = this.#routePlan(route, conventions.service);
      this.#plans.set(route, plan);
    }
    return plan;
  }

  #routePlan({ path, access, cost = {}, method }: Route, service: string): Plan | 'exempt' {
    // Operators and probes must be served under overload.
    const isOperatorOrProbe = typeof access === 'object' || path.startsWith(OPERATOR_PREFIX);
    const isExempt = cost.exempt || isOperatorOrProbe;
    return isExempt ? 'exempt' : this.#makePlan(path, cost, method, service);
  }

  #unroutedPlan(method: string, service: string): Plan {
    const knownMethod = KNOWN_METHODS.has(method) ? method : 'POST';
    const key = `${service} ${knownMethod}`;
    let plan = this.#unrouted.get(key);
    if (plan === undefined) {
      plan = this.#makePlan(ANY_ENDPOINT, {}, knownMethod, service);
      this.#unrouted.set(key, plan);
    }
    return plan;
  }

  #makePlan(endpoint: string, cost: RouteCost, method: string, service: string): Plan {
    const { resources } = this.#deps.limiter;
    const { resource: defaultResource, secondary } = this.#ruleOf(service);
    return makePlan({
      resource: resources.need(cost.resource ?? defaultResource),
      endpoint: endpointOf(endpoint, service),
      method,
      cost,
      secondary,
    });
  }
}

const presentsCredential = ({ headers, url }: GateRequest['request']): boolean =>
  headers['authorization'] !== undefined || loginOfUrl(url) !== undefined;

/** Clients can invent methods, so others share one plan, with the cost of a write. */
const KNOWN_METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

function endpointOf(url: string, service: string): string {
  const isAliased = ALIASED_SERVICES.has(service) && url.startsWith(ALIAS_PREFIX);
  return isAliased ? url.slice(ALIAS_PREFIX.length - 1) : url;
}
