import {
  type ApiConventions,
  type HttpHead,
  type HttpResponse,
  jsonOf,
  jsonResponse,
  OpenApi,
  type RouteGroup,
  requestError,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { EnvoyService } from '../../domain/envoy-service.js';
import { rateLimitError } from '../../errors.js';
import { MAX_BODY_BYTES } from '../check-route.js';
import type { ResponseContext } from '../wire-response.js';
import { CODE, readEnvoyRequest, toEnvoyResponse } from './envoy-wire.js';

export interface EnvoyJsonDeps {
  readonly decisions: EnvoyService;
  /** The API conventions for operators; callers need the server's own token. */
  readonly conventions: ApiConventions;
  contextOf(request: HttpHead): ResponseContext;
}

/**
 * Creates routes for the same protocol as JSON over HTTP, for tests and proxies without gRPC.
 * Source: rate-limits, section 12.2.
 */
export function envoyJsonRouteGroup({
  decisions,
  conventions,
  contextOf,
}: EnvoyJsonDeps): RouteGroup {
  return {
    conventions,
    api: 'ratelimit',
    errorResponse(error, request) {
      if (rateLimitError.is(error, 'check_invalid') || requestError.is(error, 'json_unreadable')) {
        return jsonResponse(400, { message: error.message });
      }
      if (rateLimitError.is(error, 'store_unavailable'))
        return jsonResponse(500, { message: 'internal error' });
      return conventions.errorResponse(error, request);
    },
    routes: [
      {
        method: 'POST',
        path: '/json',
        access: 'admin',
        body: { maxBytes: MAX_BODY_BYTES },
        about: { summary: "Check a request in Envoy's format (RateLimitRequest as JSON)" },
        input: { body: Type.Object({}), validation: 'the protocol has its own error format' },
        output: { 200: OpenApi.response('RateLimitResponse', OpenApi.json(Type.Object({}))) },
        errors: { 429: 'over a limit: RateLimitResponse', 500: 'the counter store is unavailable' },
        async handle(request): Promise<HttpResponse> {
          const answer = await decisions.decide(readEnvoyRequest(jsonOf(request.body)));
          const { rawBody, statuses, ...response } = toEnvoyResponse(answer, contextOf(request));
          return jsonResponse(response.overallCode === CODE.OVER_LIMIT ? 429 : 200, {
            ...response,
            statuses: statuses.map(withDurationText),
            ...(rawBody !== undefined && { rawBody: rawBody.toString('base64') }),
          });
        },
      },
    ],
  };
}

/** Durations in proto3 JSON are strings with a unit. */
function withDurationText(status: object): object {
  const seconds: unknown = Reflect.get(status, 'durationUntilReset');
  return seconds === undefined ? status : { ...status, durationUntilReset: `${seconds}s` };
}
