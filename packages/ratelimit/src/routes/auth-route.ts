import {
  type Clock,
  docsBaseAt,
  emptyResponse,
  githubFailureResponse,
  githubResponse,
  type HttpRequest,
  type HttpResponse,
  OpenApi,
  queryOf,
  type Route,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { type RateLimitConfig, serviceRule } from '../config.js';
import type { DecisionService } from '../domain/decision-service.js';
import type { LoginGuard } from '../domain/login-guard.js';
import { ANY_ENDPOINT, endpointOf } from '../model/endpoint.js';
import { isRead } from '../model/plan.js';
import { loginRefusal } from './gate/refusal.js';
import { toWireResponse } from './wire-response.js';

export const AUTH_PATH = '/ops/v1/rate-limits/auth';

export interface AuthDeps {
  readonly config: RateLimitConfig;
  readonly decisions: DecisionService;
  readonly logins: LoginGuard;
  readonly clock: Clock;
}

/**
 * Creates the route for proxies that send a subrequest before they forward a request. It returns
 * 204, 401 or 403, the only statuses that such a proxy forwards. The proxy needs no token: a caller
 * can only spend the limits of its own credential or address.
 * Source: rate-limits, section 12.1.
 */
export function authRoute({ config, decisions, logins, clock }: AuthDeps): Route {
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    const { headers } = request;
    const textsOf = (...names: readonly string[]): string[] =>
      names.map((name) => headers[name]).filter((found) => found !== undefined);
    // The proxy sets some of these headers, and its client may forge the others. The more expensive
    // variant is charged.
    const methods = textsOf('x-original-method', 'x-forwarded-method').map((text) =>
      text.toUpperCase(),
    );
    const targets = textsOf('x-original-uri', 'x-forwarded-uri');
    const [endpoint = '/', ...others] = new Set(targets.map(endpointOf));
    const { key, address: ip } = request.client;
    const docsBase = docsBaseAt(config, request.base);
    const { authorization } = headers;
    const understood = await decisions.prepare({
      caller:
        authorization === undefined
          ? { by: 'ip', ip }
          : { by: 'authorization', header: authorization, ip },
      // From the URL that the proxy calls, not from a header: clients could name an unlimited
      // resource there.
      resource: new URLSearchParams(queryOf(request.url)).get('resource') ?? 'core',
      endpoint: others.length === 0 ? endpoint : ANY_ENDPOINT,
      method: methods.find((method) => !isRead(method)) ?? 'GET',
      cost: 1,
      points: undefined,
      content: false,
      contentPerMinute: undefined,
      graph: false,
      heavy: 0,
      lease: false,
      dryRun: false,
    });
    if (understood.isBadCredential && !logins.noteFailure(key)) {
      const rule = serviceRule(config, 'ratelimit');
      const { body } = loginRefusal({ config, rule, docsBase, requestId: undefined });
      return githubResponse(403, body);
    }
    const response = await decisions.decide(understood);
    const wire = toWireResponse(response, { config, docsBase, clock });
    const about = Object.entries(wire.headers);
    if (!wire.allowed) return githubResponse(403, { ...wire.body, status: '403' }, about);
    if (!response.isBadCredential) return emptyResponse(204, about);
    const documentationUrl = `${docsBase}/rest`;
    return githubFailureResponse(
      { status: 401, message: 'Bad credentials', documentationUrl },
      about,
    );
  };
  return {
    method: 'GET',
    path: AUTH_PATH,
    access: 'public',
    about: {
      summary:
        'check a proxied request by its X-Original-URI, X-Original-Method and Authorization headers',
    },
    input: {
      query: Type.Object({ resource: Type.Optional(Type.String({ default: 'core' })) }),
      headers: Type.Object({
        'X-Original-URI': Type.Optional(
          Type.String({
            description: 'or X-Forwarded-Uri; if they differ, no endpoint is counted',
          }),
        ),
        'X-Original-Method': Type.Optional(
          Type.String({ description: 'or X-Forwarded-Method; the more expensive one counts' }),
        ),
      }),
      validation: 'proxies forward only refusals of the limits',
    },
    output: { 204: OpenApi.response('the request is allowed') },
    errors: { 401: 'bad credentials', 403: 'over a limit', 422: 'unknown resource' },
    handle,
  };
}
