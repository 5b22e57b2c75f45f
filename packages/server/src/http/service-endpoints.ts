import {
  type Clock,
  type HttpService,
  type Metrics,
  type OpenableEndpoint,
  type PlainAnswer,
  readsHealthInJson,
  sendJson,
  sendPlatformFailure,
} from '@plinth/kernel';
import type { GuardedRoute } from './route-guard.js';

const TEXT = 'text/plain; charset=utf-8';
/** Every route with who may use it: for whoever has to vouch for what the port lets in. */
const ROUTES_PATH = '/ops/v1/routes';
const HEALTH_PATHS = ['/health', '/api/v1/health'] as const;

/**
 * Endpoints of the process rather than of one service. Registered after all services: one that brings its own
 * answer on such a path keeps it. Source: tsdb-http, section 10.
 */
export function createServiceEndpoints(needs: {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Why requests should go elsewhere; `undefined` when they need not. */
  obstacle(): Promise<string | undefined>;
  /** All routes of the server, when they are registered. */
  routes(): readonly GuardedRoute[];
}): HttpService {
  const { clock, metrics } = needs;
  const startedMs = clock.nowMs();
  const plainHealth = async (): Promise<PlainAnswer> => {
    const why = await needs.obstacle();
    if (why === undefined) {
      return { status: 200, headers: [['content-type', TEXT]], body: Buffer.from('OK') };
    }
    const body = Buffer.from(JSON.stringify(notReady(why)));
    return { status: 503, headers: [['content-type', 'application/json']], body };
  };
  const ready = (): object => ({
    status: 'ready',
    started: new Date(startedMs).toISOString(),
    up: `${Math.max(0, clock.nowMs() - startedMs) / 1000}s`,
  });
  return {
    name: 'server',
    healthRoutes: () =>
      HEALTH_PATHS.map((path) => ({
        methods: ['GET'],
        path,
        access: { openable: 'health' },
        front: 'server',
        answer: plainHealth,
      })),
    async register(app) {
      app.get(ROUTES_PATH, { config: { access: 'admin' } }, async (_request, reply) =>
        sendJson(reply, 200, needs.routes()),
      );
      if (!app.hasRoute({ method: 'GET', url: '/metrics' })) {
        app.get('/metrics', openable('metrics'), async (_request, reply) => {
          const { contentType, text } = await metrics.page();
          return reply.type(contentType).send(text);
        });
      }
      for (const url of HEALTH_PATHS) {
        if (app.hasRoute({ method: 'GET', url })) continue;
        app.get(url, openable('health'), async (_request, reply) => {
          const { status, headers, body } = await plainHealth();
          return reply.code(status).headers(Object.fromEntries(headers)).send(body);
        });
      }
      // The real system's heap profile is not offered; whether its path is asked for a token is a setting all the same.
      app.get('/debug/pprof/heap', openable('pprof'), (_request, reply) => reply.callNotFound());
      app.get('/ops/v1/ready', openable('ready'), async (request, reply) => {
        const why = await needs.obstacle();
        if (why === undefined) return sendJson(reply, 200, ready());
        return sendPlatformFailure(reply, {
          status: 503,
          message: `not ready: ${why}`,
          documentationUrl: `${request.protocol}://${request.host}/docs/operator`,
        });
      });
      if (app.hasRoute({ method: 'GET', url: '/ready' })) return;
      app.get('/ready', openable('ready'), async (request, reply) => {
        const why = await needs.obstacle();
        if (why !== undefined) return sendJson(reply, 503, notReady(why));
        if (readsHealthInJson(request.headers)) return sendJson(reply, 200, ready());
        return reply.type(TEXT).send('OK');
      });
    },
    async start() {},
    async close() {},
  };
}

const openable = (endpoint: OpenableEndpoint) => ({ config: { access: { openable: endpoint } } });

const notReady = (why: string): object => ({ error: `not ready: ${why}`, data: {} });
