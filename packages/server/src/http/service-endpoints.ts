import {
  bytesAnswer,
  type Clock,
  type Dialect,
  type HttpAnswer,
  type HttpRequest,
  type HttpService,
  jsonAnswer,
  type Metrics,
  platformFailureAnswer,
  type Route,
  readsHealthInJson,
  textAnswer,
} from '@plinth/kernel';
import type { ListedRoute } from './router.js';

/**
 * Endpoints of the process rather than of one service. Asked after all services: one that brings its own answer on such a path
 * keeps it. Source: tsdb-http, section 10.
 */
export function createServiceEndpoints(needs: {
  readonly dialect: Dialect;
  readonly operatorDialect: Dialect;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Why requests should go elsewhere; `undefined` when they need not. */
  obstacle(): Promise<string | undefined>;
  /** All routes of the server. */
  routes(): readonly ListedRoute[];
}): HttpService {
  const { clock, metrics, dialect, operatorDialect } = needs;
  const startedMs = clock.nowMs();
  const state = (): object => ({
    status: 'ready',
    started: new Date(startedMs).toISOString(),
    up: `${Math.max(0, clock.nowMs() - startedMs) / 1000}s`,
  });
  const health = async (): Promise<HttpAnswer> => {
    const why = await needs.obstacle();
    return why === undefined ? textAnswer(200, 'OK') : jsonAnswer(503, notReady(why));
  };
  const ready = async ({ headers }: HttpRequest): Promise<HttpAnswer> => {
    const why = await needs.obstacle();
    if (why !== undefined) return jsonAnswer(503, notReady(why));
    return readsHealthInJson(headers) ? jsonAnswer(200, state()) : textAnswer(200, 'OK');
  };
  const operatorReady = async ({ base }: HttpRequest): Promise<HttpAnswer> => {
    const why = await needs.obstacle();
    if (why === undefined) return jsonAnswer(200, state());
    const documentationUrl = `${base}/docs/operator`;
    return platformFailureAnswer({ status: 503, message: `not ready: ${why}`, documentationUrl });
  };
  const page = async (): Promise<HttpAnswer> => {
    const { contentType, text } = await metrics.page();
    return bytesAnswer(200, contentType, Buffer.from(text));
  };
  // The real system's heap profile is not offered; whether its path is asked for a token is a setting all the same.
  const heap: Route['handle'] = (request) => dialect.answerNotFound(request, []);
  return {
    name: 'server',
    tables: () => [
      {
        dialect,
        routes: [
          open('health', '/health', health),
          open('health', '/api/v1/health', health),
          open('metrics', '/metrics', page),
          open('pprof', '/debug/pprof/heap', heap),
          open('ready', '/ready', ready),
        ],
      },
      {
        dialect: operatorDialect,
        routes: [
          open('ready', '/ops/v1/ready', operatorReady),
          // Every route with who may use it: for whoever has to vouch for what the port lets in.
          {
            method: 'GET',
            path: '/ops/v1/routes',
            access: 'admin',
            handle: () => jsonAnswer(200, needs.routes()),
          },
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
  handle: Route['handle'],
): Route => ({ method: 'GET', path, access: { openable }, handle });

const notReady = (why: string): object => ({ error: `not ready: ${why}`, data: {} });
