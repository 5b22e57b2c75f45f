import {
  type Clock,
  docsBaseAt,
  emptyAnswer,
  type HttpAnswer,
  type HttpRequest,
  OpenApi,
  platformAnswer,
  platformFailureAnswer,
  queryOf,
  type Route,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { type RateLimitConfig, serviceRule } from '../config.js';
import type { DecisionService } from '../domain/decision-service.js';
import type { LoginGuard } from '../domain/login-guard.js';
import { ANY_ENDPOINT, endpointOf } from '../model/endpoint.js';
import { isRead } from '../model/plan.js';
import { toWireAnswer } from './answer.js';
import { loginRefusal } from './gate/refusal.js';

export const AUTH_PATH = '/ops/v1/rate-limits/auth';

export interface AuthDeps {
  readonly config: RateLimitConfig;
  readonly decisions: DecisionService;
  readonly logins: LoginGuard;
  readonly clock: Clock;
}

/**
 * For proxies that ask before they pass a request on: 204, 401 or 403, the only answers such a proxy hands on. It needs
 * no token of its own: whoever asks can only spend what belongs to the credential or the address that they show.
 * Source: rate-limits, section 12.1.
 */
export function authRoute({ config, decisions, logins, clock }: AuthDeps): Route {
  const handle = async (request: HttpRequest): Promise<HttpAnswer> => {
    const { headers } = request;
    const textsOf = (...names: readonly string[]): string[] =>
      names.map((name) => headers[name]).filter((found) => found !== undefined);
    // Which ones the proxy sets is not known, and the others may be its client's: what costs more is charged.
    const methods = textsOf('x-original-method', 'x-forwarded-method').map((text) =>
      text.toUpperCase(),
    );
    const targets = textsOf('x-original-uri', 'x-forwarded-uri');
    const [endpoint = '/', ...others] = new Set(targets.map(endpointOf));
    const { key, address: ip } = request.client;
    const docsBase = docsBaseAt(config, request.base);
    const { authorization } = headers;
    const understood = await decisions.understand({
      caller:
        authorization === undefined
          ? { by: 'ip', ip }
          : { by: 'authorization', header: authorization, ip },
      // Part of the address that the proxy asks at: headers come from the client, who would name what has no limit.
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
      return platformAnswer(403, body);
    }
    const answer = await decisions.decide(understood);
    const wire = toWireAnswer(answer, { config, docsBase, clock });
    const about = Object.entries(wire.headers);
    if (!wire.allowed) return platformAnswer(403, { ...wire.body, status: '403' }, about);
    if (!answer.isBadCredential) return emptyAnswer(204, about);
    const documentationUrl = `${docsBase}/rest`;
    return platformFailureAnswer(
      { status: 401, message: 'Bad credentials', documentationUrl },
      about,
    );
  };
  return {
    method: 'GET',
    path: AUTH_PATH,
    access: 'public',
    about: {
      summary: 'question of a proxy, by X-Original-URI, X-Original-Method and Authorization',
    },
    input: {
      query: Type.Object({ resource: Type.Optional(Type.String({ default: 'core' })) }),
      headers: Type.Object({
        'X-Original-URI': Type.Optional(
          Type.String({ description: 'or X-Forwarded-Uri; where they differ, no endpoint' }),
        ),
        'X-Original-Method': Type.Optional(
          Type.String({ description: 'or X-Forwarded-Method; the one that costs more' }),
        ),
      }),
      validation: 'a proxy hands on no other refusals than those of the limits',
    },
    output: { 204: OpenApi.answer('it may pass') },
    errors: { 401: 'bad credentials', 403: 'over a limit', 422: 'there is no such resource' },
    handle,
  };
}
