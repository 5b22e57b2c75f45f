import {
  type ApiConventions,
  bytesResponse,
  type Clock,
  HEALTH_SUMMARY,
  type HttpRequest,
  type HttpResponse,
  type HttpService,
  jsonResponse,
  type Metrics,
  notReady,
  OpenApi,
  operatorFailure,
  operatorRoute,
  type Route,
  type RouteDescription,
  readsHealthInJson,
  textResponse,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { ListedRoute } from './router.js';

/**
 * Creates the endpoints of the process. They are registered after all services, so that a service's own route
 * for such a path wins.
 * Source: tsdb-http, section 10.
 */
export function createServiceEndpoints(deps: {
  readonly conventions: ApiConventions;
  readonly operatorConventions: ApiConventions;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Returns why the server is not ready; `undefined` when it is. */
  obstacle(): Promise<string | undefined>;
  /** Returns all routes of the server. */
  routes(): readonly ListedRoute[];
}): HttpService {
  const { clock, metrics, conventions, operatorConventions } = deps;
  const startedMs = clock.nowMs();
  const state = (): object => ({
    status: 'ready',
    started: new Date(startedMs).toISOString(),
    up: `${Math.max(0, clock.nowMs() - startedMs) / 1000}s`,
  });
  const ready = async ({ headers }: HttpRequest): Promise<HttpResponse> => {
    const why = await deps.obstacle();
    if (why !== undefined) return jsonResponse(503, { error: notReady(why), data: {} });
    return readsHealthInJson(headers) ? jsonResponse(200, state()) : textResponse(200, 'OK');
  };
  const live = (): HttpResponse => textResponse(200, 'OK');
  const operatorReady = async (request: HttpRequest): Promise<HttpResponse> => {
    const why = await deps.obstacle();
    if (why === undefined) return jsonResponse(200, state());
    return operatorFailure(request, 503, notReady(why));
  };
  const page = async (): Promise<HttpResponse> => {
    const { contentType, text } = await metrics.page();
    return bytesResponse(200, contentType, Buffer.from(text));
  };
  // The heap profile is not offered, but its path still follows the setting for its token.
  const heap: Route['handle'] = (request) => conventions.notFoundResponse(request, []);
  return {
    name: 'server',
    routeGroups: () => [
      {
        conventions,
        api: 'tsdb',
        routes: [
          open('health', '/health', READY, ready),
          open('health', '/api/v1/health', READY, ready),
          open('metrics', '/metrics', METRICS, page),
          open('pprof', '/debug/pprof/heap', HEAP, heap),
          open('ready', '/ready', READY, ready),
          // Public: process supervisors have no token.
          { method: 'GET', path: '/livez', access: 'public', ...LIVE, handle: live },
        ],
      },
      {
        conventions: operatorConventions,
        api: 'operator',
        routes: [
          open('ready', '/ops/v1/ready', OPERATOR_READY, operatorReady),
          // Lists every route with its access, for security reviews.
          operatorRoute('GET', '/routes', {
            ...ROUTES,
            handle: () => jsonResponse(200, deps.routes()),
          }),
        ],
      },
    ],
    async start() {},
    async close() {},
  };
}

const open = (
  openable: 'health' | 'metrics' | 'pprof' | 'ready',
  path: string,
  docs: RouteDescription,
  handle: Route['handle'],
): Route => ({ method: 'GET', path, access: { openable }, ...docs, handle });

const { response, json, text } = OpenApi;

/** For clients that accept only JSON, such as those of InfluxDB 2.x. */
const State = Type.Object({
  status: Type.Literal('ready'),
  started: Type.String({ format: 'date-time' }),
  up: Type.String({ description: 'uptime in seconds, such as `12.3s`' }),
});
const READY: RouteDescription = {
  about: { summary: HEALTH_SUMMARY },
  output: { 200: response('OK', { ...text, ...json(State) }) },
  errors: { 503: 'not ready, with the reason' },
};
const OPERATOR_READY: RouteDescription = {
  ...READY,
  output: { 200: response('start time and uptime', json(State)) },
};
const LIVE: RouteDescription = {
  about: { summary: 'Returns OK while the process responds, even if its storage is unavailable' },
  output: { 200: response('OK', text) },
};
const METRICS: RouteDescription = {
  about: { summary: 'Get metrics in the Prometheus text format' },
  output: { 200: response('metrics', text) },
};
const HEAP: RouteDescription = {
  about: { summary: 'Not available: heap profile of InfluxDB' },
  output: {},
  errors: { 404: 'always' },
};
const Listed = Type.Object({
  service: Type.String(),
  method: Type.String(),
  path: Type.String({ description: 'with parameters: `/things/:id`' }),
  access: Type.Union([
    Type.String({ description: 'public, admin, backup, first_token, platform, app or editor' }),
    Type.Object({
      openable: Type.String({ description: 'admin, unless `disable_authz` contains this word' }),
    }),
  ]),
});
const ROUTES: RouteDescription = {
  about: { summary: 'List all routes of the server with their required access' },
  output: { 200: response('every route', json(Type.Array(Listed))) },
};
