import type { PlainAnswer, PlainRequest, PlainRoute } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import type { RouteDeps } from './deps.js';
import { answerHealth, HEALTH_PATHS, TO_HEALTH_CHECKS } from './health.js';
import { plainHeaders } from './plain-request.js';
import { sendAnswer } from './to-wire.js';
import { versionHeaders } from './write/write-routes.js';

const PRODUCT_NAME = 'Plinth';

const TO_PINGS = { openable: 'ping' } as const;

/** Health and version; returns the plain routes. Source: tsdb-http, "Service endpoints". */
export function registerServiceRoutes(
  app: FastifyInstance,
  deps: RouteDeps,
): readonly PlainRoute[] {
  const processId = deps.random.uuidV4();
  const startedMs = deps.clock.nowMs();
  for (const url of HEALTH_PATHS) {
    app.get(url, { config: { access: TO_HEALTH_CHECKS } }, async ({ headers }, reply) => {
      sendAnswer(reply, await answerHealth(plainHeaders(headers), deps));
      return reply;
    });
  }
  const ping = (headers: PlainRequest['headers']): PlainAnswer => {
    const requestId = deps.random.uuidV7();
    const known = [
      ['request-id', requestId],
      ['x-request-id', requestId],
      ...versionHeaders(deps),
    ] as const;
    if (expectsEmptyPing(headers)) return { status: 204, headers: known, body: undefined };
    const body = {
      product_name: PRODUCT_NAME,
      version: deps.settings.reported_version,
      revision: deps.settings.reported_revision,
      process_id: processId,
    };
    const type = ['content-type', 'application/json'] as const;
    return { status: 200, headers: [...known, type], body: Buffer.from(JSON.stringify(body)) };
  };
  app.route({
    method: ['GET', 'POST', 'HEAD'],
    url: '/ping',
    config: { access: TO_PINGS },
    handler: async ({ headers }, reply) => {
      sendAnswer(reply, ping(plainHeaders(headers)));
      return reply;
    },
  });
  app.get('/debug/vars', async (_request, reply) => {
    const type = ['content-type', 'application/json; charset=utf-8'] as const;
    sendAnswer(reply, { status: 200, headers: [type], body: await debugVars(deps, startedMs) });
    return reply;
  });
  const plainPing = async ({ headers }: PlainRequest): Promise<PlainAnswer> => ping(headers);
  return [
    {
      methods: ['GET', 'POST'],
      path: '/ping',
      access: TO_PINGS,
      front: 'server',
      answer: plainPing,
    },
  ];
}

/**
 * The 1.x server answers a ping with 204, and two of its clients take anything else for a failure: that for Go, which names
 * itself, and that for Python, which asks for MessagePack everywhere.
 */
function expectsEmptyPing(headers: PlainRequest['headers']): boolean {
  return (
    headers['user-agent'] === 'InfluxDBClient' || headers['accept'] === 'application/x-msgpack'
  );
}

/** Source: the 1.x server; Telegraf's input for InfluxDB reads it. The command line, which may hold secrets, is left out. */
async function debugVars(deps: RouteDeps, startedMs: number): Promise<Buffer> {
  const { reported_version: Version, reported_revision: Commit } = deps.settings;
  const nowMs = deps.clock.nowMs();
  const system = {
    currentTime: new Date(nowMs).toISOString(),
    started: new Date(startedMs).toISOString(),
    uptime: Math.max(0, Math.floor((nowMs - startedMs) / 1000)),
  };
  const statistics = (await deps.statistics()).map(
    (statistic) =>
      [[statistic.name, ...Object.values(statistic.tags)].join(':'), statistic] as const,
  );
  const page = Object.fromEntries([
    ['system', system],
    ['build', { Version, Commit }],
    ...statistics,
  ]);
  return Buffer.from(`${JSON.stringify(page)}\n`);
}
