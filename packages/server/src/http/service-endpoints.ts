import {
  type Clock,
  type HttpService,
  type Logger,
  type Metrics,
  type OpenableEndpoint,
  type PlainAnswer,
  readsHealthInJson,
  sendJson,
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
  readonly log: Logger;
  /** Rejects when storage cannot be reached. */
  probe(): Promise<void>;
  isDraining(): boolean;
  /** All routes of the server, when they are registered. */
  routes(): readonly GuardedRoute[];
}): HttpService {
  const { clock, metrics, log } = needs;
  const startedMs = clock.nowMs();
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
        if (!app.hasRoute({ method: 'GET', url })) {
          app.get(url, openable('health'), async (_request, reply) => reply.type(TEXT).send('OK'));
        }
      }
      // The real system's heap profile is not offered; whether its path is asked for a token is a setting all the same.
      app.get('/debug/pprof/heap', openable('pprof'), (_request, reply) => reply.callNotFound());
      if (app.hasRoute({ method: 'GET', url: '/ready' })) return;
      app.get('/ready', openable('ready'), async (request, reply) => {
        if (needs.isDraining()) return sendJson(reply, 503, notReady('shutting down'));
        try {
          await needs.probe();
        } catch (err) {
          log.error({ err }, 'storage cannot be reached');
          return sendJson(reply, 503, notReady('storage cannot be reached'));
        }
        if (readsHealthInJson(request.headers)) {
          return sendJson(reply, 200, {
            status: 'ready',
            started: new Date(startedMs).toISOString(),
            up: `${Math.max(0, clock.nowMs() - startedMs) / 1000}s`,
          });
        }
        return reply.type(TEXT).send('OK');
      });
    },
    async start() {},
    async close() {},
  };
}

const plainHealth = async (): Promise<PlainAnswer> => ({
  status: 200,
  headers: [['content-type', TEXT]],
  body: Buffer.from('OK'),
});

const openable = (endpoint: OpenableEndpoint) => ({ config: { access: { openable: endpoint } } });

const notReady = (why: string): object => ({ error: `not ready: ${why}`, data: {} });
