import type { HttpService, Metrics } from '@plinth/kernel';

/** Endpoints of the process rather than of one service. Source: tsdb-http, section 10. */
export function createServiceEndpoints(metrics: Metrics): HttpService {
  return {
    name: 'server',
    async register(app) {
      app.get('/metrics', async (_request, reply) => {
        const { contentType, text } = await metrics.page();
        return reply.type(contentType).send(text);
      });
    },
    async start() {},
    async close() {},
  };
}
