import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Pass, RouteCost } from '@plinth/kernel';
import { type ClientAddresses, docsBaseAt, Memo } from '@plinth/kernel';
import { type RateLimitConfig, type ServiceRule, serviceRule } from '../../config.js';
import type { Limiter } from '../../domain/limiter.js';
import type { Caller } from '../../model/caller.js';
import { endpointOf } from '../../model/endpoint.js';
import { makePlan, type Plan } from '../../model/plan.js';
import { admitRequest, type FormattedRefusal } from './admit-request.js';
import type { RefusalContext } from './refusal.js';

/** Describes an application's requests to the limiter. */
export interface MiddlewareOptions {
  /**
   * Key of the identity, such as `user:583231`; `undefined` for a caller identified only by its
   * address.
   */
  readonly identify?: (request: IncomingMessage) => string | undefined;
  /**
   * Cost of the request. Plans are cached per endpoint and method if this returns the same object.
   */
  readonly costOf?: (request: IncomingMessage) => RouteCost;
  /** Endpoint whose points are counted, such as a route template. Default: the path. */
  readonly endpointOf?: (request: IncomingMessage) => string;
}

export type NodeMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

export interface MiddlewareDeps {
  readonly config: RateLimitConfig;
  readonly limiter: Limiter;
  readonly addresses: ClientAddresses;
  readonly clock: Clock;
}

const SERVICE = 'library';
const NO_COST: RouteCost = {};
/**
 * Maximum number of cached plans. Without it, an application that uses paths as endpoints would
 * grow the cache without bound.
 */
const MAX_PLAN_COUNT = 10_000;

/**
 * Rate limiting for applications on Node's own HTTP server: directly for Express, and through
 * `limitFastify` of the library for Fastify.
 * A rejected request never reaches `next`.
 */
export function nodeMiddleware(
  deps: MiddlewareDeps,
  options: MiddlewareOptions = {},
): NodeMiddleware {
  const { config, limiter, addresses } = deps;
  const rule: ServiceRule = { ...serviceRule(config, 'ratelimit'), isEnabled: true };
  const plans = new Memo<string, { readonly cost: RouteCost; readonly plan: Plan }>({
    maxCount: MAX_PLAN_COUNT,
  });

  const planOf = (request: IncomingMessage): Plan | undefined => {
    const cost = options.costOf?.(request) ?? NO_COST;
    if (cost.exempt) return undefined;
    const { method = 'GET', url = '/' } = request;
    const endpoint = options.endpointOf?.(request) ?? endpointOf(url);
    const key = `${method} ${endpoint}`;
    const known = plans.get(key);
    if (known?.cost === cost) return known.plan;
    const resource = limiter.resources.need(cost.resource ?? rule.resource);
    const plan = makePlan({ resource, endpoint, method, cost, secondary: 'all' });
    plans.set(key, { cost, plan });
    return plan;
  };

  const contextOf = (request: IncomingMessage): RefusalContext => ({
    config,
    rule,
    docsBase: docsBaseAt(config, `http://${request.headers.host ?? 'localhost'}`),
    requestId: undefined,
  });

  return (request, response, next) => {
    const address = addresses.of(request);
    const plan = planOf(request);
    if (plan === undefined || address.isExempt || !config.enabled) {
      next();
      return;
    }
    const key = options.identify?.(request);
    const known = key === undefined ? undefined : limiter.callers.ofKey(key);
    const caller: Caller = known ?? limiter.callers.ofAddress(address.key, address.address);

    const conclude = (admitted: Pass | FormattedRefusal): void => {
      if ('refusal' in admitted) {
        send(response, admitted);
        return;
      }
      watch(admitted, response);
      next();
    };
    const context = () => contextOf(request);
    try {
      const admitted = admitRequest(deps, { caller, plan, service: SERVICE, context });
      if (admitted instanceof Promise) admitted.then(conclude, next);
      else conclude(admitted);
    } catch (error) {
      next(error);
    }
  };
}

/**
 * Follows the response: the first byte ends the charged handler time, and its end or a closed
 * connection finishes the charge.
 */
function watch(pass: Pass, response: ServerResponse): void {
  pass.begin();
  // The client may have disconnected during the decision, in which case no further event follows.
  const stream: unknown = Reflect.get(response, 'stream'); // HTTP/2 reports the end only on the stream
  if (response.destroyed || Reflect.get(Object(stream), 'destroyed') === true) pass.finish();
  else response.once('close', () => pass.finish());
  const writeHead = response.writeHead;
  response.writeHead = function watched(this: ServerResponse, ...args: unknown[]) {
    const status = typeof args[0] === 'number' ? args[0] : response.statusCode;
    for (const [name, value] of pass.settle(status)) response.setHeader(name, value);
    response.writeHead = writeHead;
    return Reflect.apply(writeHead, this, args);
  } as typeof response.writeHead;
}

function send(
  response: ServerResponse,
  { refusal: { status, contentType, body, retryAfterSec }, headers }: FormattedRefusal,
): void {
  for (const [name, value] of headers) response.setHeader(name, value);
  if (retryAfterSec !== undefined) response.setHeader('retry-after', String(retryAfterSec));
  const bytes = Buffer.from(JSON.stringify(body));
  // The request body is unread, so the connection cannot be reused.
  response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': contentType, 'content-length': bytes.length });
  response.end(bytes);
}
