import type { Socket } from 'node:net';
import type {
  Clock,
  PlainGate,
  PlainMethod,
  PlainPass,
  PlainVisitor,
  RequestGate,
  RouteCost,
  Visitor,
} from '@plinth/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type RateLimitConfig, type ServiceRule, serviceRule } from '../config.js';
import type { ClientAddress, ClientAddresses } from '../domain/client-address.js';
import type { Limiter } from '../domain/limiter.js';
import type { LoginGuard } from '../domain/login-guard.js';
import { StoreUnavailable } from '../errors.js';
import type { Caller } from '../model/caller.js';
import type { Ban } from '../model/decision.js';
import type { Admission } from '../model/limit-store.js';
import { makePlan, type Plan, windowSecOf } from '../model/plan.js';
import { ConnectionGuard } from './connection-guard.js';
import { docsBaseOf } from './docs-base.js';
import { limitedByHeaderOf, writeHeaders } from './headers.js';
import { LimitedPass, UNLIMITED_PASS } from './plain-pass.js';
import {
  loginRefusal,
  type Refusal,
  type RefusalContext,
  refusalOf,
  unavailableRefusal,
} from './refusal.js';
import { RequestLease } from './request-lease.js';
import type { RouteListing } from './route-listing.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of an admitted request of a service with limits. */
    rateLimit: RequestLease | undefined;
  }
}

export interface HttpGateNeeds {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
  readonly addresses: ClientAddresses;
  readonly logins: LoginGuard;
  readonly routes: RouteListing;
  readonly clock: Clock;
}

/** A larger body that nobody will read is not waited for: the connection ends instead. */
const MAX_UNREAD_BODY_BYTES = 65_536;

/** Operators and probes must get through when everybody else is held back. */
const EXEMPT_PATHS: ReadonlySet<string> = new Set(['/health', '/ping', '/metrics', '/ready']);
const OPERATOR_PREFIX = '/ops/';
/** Routes of these are there with and without it; both forms are one endpoint. */
const ALIASED_SERVICES: ReadonlySet<string> = new Set(['webhooks', 'ratelimit']);
const ALIAS_PREFIX = '/api/v3/';
/** Endpoint of requests that match no route. */
const NO_ENDPOINT = '*';

/** Puts the limiter in front of services. Source: rate-limits, sections 2, 5 and 11. */
export class HttpGate implements RequestGate {
  readonly #needs: HttpGateNeeds;
  readonly #rules = new Map<string, ServiceRule>();
  /** By the route's own options object, then by method. */
  readonly #plans = new WeakMap<object, Map<string, Plan | 'exempt'>>();
  /** Of requests without a route, by service and method. */
  readonly #unrouted = new Map<string, Plan>();
  /** What routes of watched scopes declare, by method and path. */
  readonly #costs = new Map<string, RouteCost>();
  readonly #limitedByHeader: string;
  readonly #connections: ConnectionGuard | undefined;

  constructor(needs: HttpGateNeeds) {
    this.#needs = needs;
    this.#limitedByHeader = limitedByHeaderOf(needs.config);
    const { ban_enabled, ban_ip_connections, shadow } = needs.config;
    this.#connections =
      ban_enabled && !shadow ? new ConnectionGuard(ban_ip_connections) : undefined;
  }

  covers(service: string): boolean {
    return this.#ruleOf(service).isEnabled;
  }

  admit(
    request: FastifyRequest,
    reply: FastifyReply,
    visitor: Visitor,
  ): boolean | Promise<boolean> {
    const { addresses, logins } = this.#needs;
    const address = addresses.of(request.raw);
    if (request.headers.authorization !== undefined && isWrong(request, visitor)) {
      if (logins.isLocked(address.key)) {
        const context = this.#contextOf(request, reply, visitor.service);
        this.#refuse({ request, reply, front: visitor.front }, loginRefusal(context));
        return false;
      }
      logins.noteFailure(address.key);
    }
    const plan = this.#planOf(request, visitor);
    if (plan === 'exempt' || this.#isExempt(visitor, address)) return true;
    const caller = this.#callerOf(visitor, address);
    if (!this.#mayConnect(caller, address, request.raw.socket)) {
      request.raw.socket.destroy();
      return false;
    }
    const ask = { request, reply, visitor, caller };
    // Whoever is banned stays out; the others are not charged for what they cannot help.
    if (visitor.purpose === 'uncheckable') return this.#admitUncharged(ask, plan);
    return this.#admitCharged(ask, plan);
  }

  #admitUncharged(ask: Ask, plan: Plan): boolean | Promise<boolean> {
    const banOrNot = (ban: Ban | undefined): boolean | Promise<boolean> =>
      ban === undefined || this.#admitCharged(ask, plan);
    try {
      const ban = this.#needs.limiter.store.banOf(ask.caller.key);
      if (!(ban instanceof Promise)) return banOrNot(ban);
      return ban.then(banOrNot, (error: unknown) => this.#fail(ask, error));
    } catch (error) {
      return this.#fail(ask, error);
    }
  }

  #admitCharged(ask: Ask, plan: Plan): boolean | Promise<boolean> {
    const { limiter } = this.#needs;
    const { caller, visitor } = ask;
    let found: Admission | Promise<Admission>;
    try {
      found = limiter.admit(caller, plan, visitor.service);
    } catch (error) {
      return this.#fail(ask, error);
    }
    if (!(found instanceof Promise)) return this.#settle(ask, found);
    return found.then(
      (admission) => this.#settle(ask, admission),
      (error: unknown) => this.#fail(ask, error),
    );
  }

  watch(scope: FastifyInstance, service: string): void {
    scope.addHook('onRoute', (route) => {
      const cost = route.config?.rateLimit ?? {};
      this.#needs.routes.add(service, route, (method) => {
        this.#costs.set(`${method} ${route.url}`, cost);
        return this.#routePlan(route.url, cost, method, service);
      });
    });
    scope.addHook('preHandler', (request, _reply, done) => {
      request.rateLimit?.handlerStarts();
      done();
    });
    scope.addHook('onSend', (request, reply, payload, done) => {
      const lease = request.rateLimit;
      if (lease !== undefined) {
        lease.handlerEnded();
        if (reply.statusCode === 304 && lease.isAuthenticated) {
          lease.refund();
          this.#writeHeaders(lease.admission, lease.windowSec, reply);
        }
      }
      done(null, payload);
    });
  }

  plainGate(service: string, method: PlainMethod, path: string): PlainGate | undefined {
    const cost = this.#costs.get(`${method} ${path}`);
    if (cost === undefined || !this.#needs.limiter.decidesAtOnce) return undefined;
    const plan = this.#routePlan(path, cost, method, service);
    return { admit: (visitor) => this.#admitPlain(visitor, plan, service) };
  }

  /** Step by step what `admit` does for who has been recognised, but that whatever must not pass is left to it. */
  #admitPlain(
    visitor: PlainVisitor,
    plan: Plan | 'exempt',
    service: string,
  ): PlainPass | undefined {
    const { limiter, addresses } = this.#needs;
    const { request, socket } = visitor;
    const address = addresses.of({ socket, headers: request.headers });
    if (plan === 'exempt' || this.#isExempt(visitor, address)) return UNLIMITED_PASS;
    const caller = this.#callerOf(visitor, address);
    if (!this.#mayConnect(caller, address, socket)) return undefined;
    const admission = limiter.admitAtOnce(caller, plan, service);
    if (admission === undefined) return undefined;
    const lease = this.#leaseOf(caller, admission);
    lease.handlerStarts();
    return new LimitedPass(lease, this.#headerLines(lease));
  }

  #isExempt({ principal }: Pick<Visitor, 'principal'>, address: ClientAddress): boolean {
    if (address.isExempt) return true;
    return principal?.kind === 'app' && this.#needs.config.app_jwt === 'exempt';
  }

  /** Connections of a proxy are no sign of what its clients do. */
  #mayConnect(caller: Caller, address: ClientAddress, socket: Socket): boolean {
    if (caller.identityClass !== 'ip' || address.isForwarded) return true;
    return this.#connections?.admits(caller.key, socket) !== false;
  }

  #leaseOf(caller: Caller, admission: Admission): RequestLease {
    const { limiter, clock } = this.#needs;
    return new RequestLease({
      admission,
      isAuthenticated: caller.identityClass !== 'ip',
      windowSec: windowSecOf(caller, admission.plan),
      store: limiter.store,
      clock,
    });
  }

  #callerOf({ principal }: Pick<Visitor, 'principal'>, address: ClientAddress): Caller {
    const { callers } = this.#needs.limiter;
    const known = principal === undefined ? undefined : callers.ofPrincipal(principal);
    return known ?? callers.ofAddress(address.key, address.address);
  }

  #settle(ask: Ask, admission: Admission): boolean {
    const { request, reply, visitor, caller } = ask;
    this.#writeHeaders(admission, windowSecOf(caller, admission.plan), reply);
    if (admission.isAllowed) {
      const lease = this.#leaseOf(caller, admission);
      request.rateLimit = lease;
      lease.followTo(reply.raw);
      return true;
    }
    if (this.#needs.limiter.isShadowed(admission)) return true;
    const context = this.#contextOf(request, reply, visitor.service);
    if (this.#needs.config.limited_by_header && admission.limitedBy !== undefined) {
      reply.header(this.#limitedByHeader, admission.limitedBy);
    }
    this.#refuse({ request, reply, front: visitor.front }, refusalOf(caller, admission, context));
    return false;
  }

  #fail({ request, reply, visitor }: Ask, error: unknown): boolean {
    if (!(error instanceof StoreUnavailable)) throw error;
    const context = this.#contextOf(request, reply, visitor.service);
    this.#refuse({ request, reply, front: visitor.front }, unavailableRefusal(context));
    return false;
  }

  #refuse({ request, reply, front }: Refused, refusal: Refusal): void {
    const { status, contentType, retryAfterSec } = refusal;
    front.setRefusalHeaders?.(request, reply);
    const body = front.wordRefusal?.(refusal.body) ?? refusal.body;
    if (retryAfterSec !== undefined) reply.header('retry-after', String(retryAfterSec));
    if (request.raw.httpVersionMajor === 1 && mayBeLarge(request)) {
      reply.header('connection', 'close');
    }
    // Bytes, because the framework adds parameters of its own to the type of text.
    void reply
      .code(status)
      .header('content-type', contentType)
      .send(Buffer.from(JSON.stringify(body)));
  }

  #writeHeaders(admission: Admission, windowSec: number, reply: FastifyReply): void {
    const write = (name: string, value: string) => void reply.header(name, value);
    writeHeaders(admission, admission.plan, this.#headerOptions(windowSec), write);
  }

  #headerLines({ admission, windowSec }: RequestLease): string {
    let lines = '';
    writeHeaders(admission, admission.plan, this.#headerOptions(windowSec), (name, value) => {
      lines += `${name}: ${value}\r\n`;
    });
    return lines;
  }

  #headerOptions(windowSec: number) {
    const { config, clock } = this.#needs;
    const hasIetfHeaders = config.ietf_headers;
    return { windowSec, nowMs: hasIetfHeaders ? clock.nowMs() : 0, hasIetfHeaders };
  }

  #contextOf(request: FastifyRequest, reply: FastifyReply, service: string): RefusalContext {
    const { config } = this.#needs;
    const requestId = reply.getHeader(`x-${config.vendor_name.toLowerCase()}-request-id`);
    return {
      config,
      rule: this.#ruleOf(service),
      docsBase: docsBaseOf(config, request),
      requestId: typeof requestId === 'string' ? requestId : undefined,
    };
  }

  #ruleOf(service: string): ServiceRule {
    let rule = this.#rules.get(service);
    if (rule === undefined) {
      rule = serviceRule(this.#needs.config, service);
      this.#rules.set(service, rule);
    }
    return rule;
  }

  #planOf(request: FastifyRequest, visitor: Visitor): Plan | 'exempt' {
    const { method } = request;
    // A path that cannot be decoded comes without a route.
    const { config, url } = request.routeOptions ?? {};
    if (config === undefined || url === undefined) return this.#unroutedPlan(method, visitor);
    let byMethod = this.#plans.get(config);
    if (byMethod === undefined) {
      byMethod = new Map();
      this.#plans.set(config, byMethod);
    }
    let plan = byMethod.get(method);
    if (plan === undefined) {
      plan = this.#routePlan(url, config.rateLimit ?? {}, method, visitor.service);
      byMethod.set(method, plan);
    }
    return plan;
  }

  #routePlan(url: string, cost: RouteCost, method: string, service: string): Plan | 'exempt' {
    const isExempt = cost.exempt || EXEMPT_PATHS.has(url) || url.startsWith(OPERATOR_PREFIX);
    return isExempt ? 'exempt' : this.#makePlan(url, cost, method, service);
  }

  #unroutedPlan(method: string, { service }: Visitor): Plan {
    const key = `${service} ${method}`;
    let plan = this.#unrouted.get(key);
    if (plan === undefined) {
      plan = this.#makePlan(NO_ENDPOINT, {}, method, service);
      this.#unrouted.set(key, plan);
    }
    return plan;
  }

  #makePlan(endpoint: string, cost: RouteCost, method: string, service: string): Plan {
    const { resources } = this.#needs.limiter;
    const { resource: ownName, secondary } = this.#ruleOf(service);
    const name = cost.resource ?? ownName;
    const resource = resources.need(name);
    // A question what may be asked is not yet a request.
    const ofMethod = method === 'OPTIONS' ? { ...cost, cost: 0 } : cost;
    return makePlan({
      resource,
      endpoint: endpointOf(endpoint, service),
      method,
      cost: ofMethod,
      secondary,
    });
  }
}

function endpointOf(url: string, service: string): string {
  const isAliased = ALIASED_SERVICES.has(service) && url.startsWith(ALIAS_PREFIX);
  return isAliased ? url.slice(ALIAS_PREFIX.length - 1) : url;
}

interface Refused extends Pick<Visitor, 'front'> {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface Ask {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly visitor: Visitor;
  readonly caller: Caller;
}

const isWrong = (request: FastifyRequest, { purpose, front }: Visitor): boolean =>
  purpose === 'refusal' || (purpose === 'request' && front.hasWrongCredential?.(request) === true);

function mayBeLarge({ headers }: FastifyRequest): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && Number(length) > MAX_UNREAD_BODY_BYTES;
}
