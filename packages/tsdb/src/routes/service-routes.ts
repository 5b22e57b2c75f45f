import {
  bytesResponse,
  emptyResponse,
  HEALTH_SUMMARY,
  type HttpHeaders,
  type HttpRequest,
  type HttpResponse,
  jsonResponse,
  notReady,
  OpenApi,
  type Route,
  type RouteDocs,
  readsHealthInJson,
  requestIdOf,
  textResponse,
} from '@plinth/kernel';
import { Type } from 'typebox';
import type { RouteDeps } from './deps.js';
import { failureResponse } from './to-wire.js';
import { versionHeaders } from './version-headers.js';

const PRODUCT_NAME = 'Plinth';

const { response, json, text } = OpenApi;
/** Responds in JSON to clients that accept only JSON, such as those of InfluxDB 2.x. */
const HEALTH: RouteDocs = {
  summary: HEALTH_SUMMARY,
  output: {
    200: response('OK', {
      ...text,
      ...json(
        Type.Object({
          name: Type.String(),
          message: Type.String(),
          status: OpenApi.oneOf(['pass', 'fail']),
          checks: Type.Array(Type.Unknown(), { maxItems: 0 }),
          version: Type.String(),
          commit: Type.String(),
        }),
      ),
    }),
  },
  errors: { 503: 'not ready, with the reason; JSON as in 200' },
};
const PING: RouteDocs = {
  summary: 'Get product, version and process',
  output: {
    200: response(
      'product and version',
      json(
        Type.Object({
          product_name: Type.String(),
          version: Type.String(),
          revision: Type.String(),
          process_id: Type.String({ format: 'uuid' }),
        }),
      ),
    ),
    204: response('the same for 1.x clients that require 204; the version is in the headers'),
  },
};
const NUMBERS: RouteDocs = {
  summary: 'Get server statistics in the groups of InfluxDB 1.x',
  output: {
    200: response(
      '`system`, `build` and groups of numbers',
      json(Type.Record(Type.String(), Type.Unknown())),
    ),
  },
};

/** Health and version. Source: tsdb-http, "Service endpoints". */
export function serviceRoutes(deps: RouteDeps): readonly Route[] {
  const { routeBuilder } = deps;
  const startedMs = deps.clock.nowMs();
  const health = ({ headers }: HttpRequest): Promise<HttpResponse> => healthResponse(headers, deps);
  const ping = pingResponses(deps);
  const toChecks = { access: { openable: 'health' } } as const;
  const toPings = { access: { openable: 'ping' } } as const;
  return [
    { ...routeBuilder.get('/health', HEALTH, health), ...toChecks },
    { ...routeBuilder.get('/api/v1/health', HEALTH, health), ...toChecks },
    ...routeBuilder.query('/ping', PING, ping).map((route) => ({ ...route, ...toPings })),
    routeBuilder.get('/debug/vars', NUMBERS, async () =>
      bytesResponse(200, 'application/json; charset=utf-8', await debugVars(deps, startedMs)),
    ),
  ];
}

/** Creates the health response. Its JSON error has the format of InfluxDB 2.x. */
async function healthResponse(
  headers: HttpHeaders,
  { settings, obstacle }: RouteDeps,
): Promise<HttpResponse> {
  const why = await obstacle();
  if (!readsHealthInJson(headers)) {
    if (why === undefined) return textResponse(200, 'OK');
    const text = notReady(why);
    return failureResponse(503, settings.compat === 'influxdb3' ? text : { error: text, data: {} });
  }
  return jsonResponse(why === undefined ? 200 : 503, {
    name: 'influxdb',
    message: why ?? 'ready for queries and writes',
    status: why === undefined ? 'pass' : 'fail',
    checks: [],
    version: settings.reported_version,
    commit: settings.reported_revision,
  });
}

function pingResponses({ random, settings }: RouteDeps): Route['handle'] {
  const processId = random.uuidV4();
  return ({ headers }) => {
    const received = requestIdOf(headers);
    const requestId = received ?? random.uuidV7();
    const known = [
      ['request-id', requestId] as const,
      // A request id from the client is returned with every response.
      ...(received === undefined ? [['x-request-id', requestId] as const] : []),
      ...versionHeaders(settings),
    ];
    if (expectsEmptyPing(headers)) return emptyResponse(204, known);
    const body = {
      product_name: PRODUCT_NAME,
      version: settings.reported_version,
      revision: settings.reported_revision,
      process_id: processId,
    };
    return jsonResponse(200, body, known);
  };
}

/**
 * Returns whether the client treats every ping status other than 204 as a failure. Two 1.x clients do: the Go client,
 * identified by its User-Agent, and the Python client, which accepts only MessagePack.
 */
function expectsEmptyPing(headers: HttpHeaders): boolean {
  return (
    headers['user-agent'] === 'InfluxDBClient' || headers['accept'] === 'application/x-msgpack'
  );
}

/**
 * Source: the 1.x server; read by Telegraf's InfluxDB input. The command line is omitted, because
 * it may contain secrets.
 */
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
