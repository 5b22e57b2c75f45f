import {
  emptyResponse,
  encodingOf,
  type HttpRequest,
  OpenApi,
  type Route,
  type RouteDescription,
  withHeaders,
} from '@plinth/kernel';
import { defaultDatabase } from '@plinth/tsdb-influxql/plan/compile/find-sources.js';
import { accessOf } from '@plinth/tsdb-model/database/database-access.js';
import type { WriteOutcome, WriteRequest } from '@plinth/tsdb-model/engine.js';
import { type TProperties, Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { BUCKET, DB, RP } from '../description.js';
import { cachedByQueryString, queryStringOf } from '../query-string.js';
import { failureResponse } from '../to-wire.js';
import { versionHeaders } from '../version-headers.js';
import { refusedLinesResponse } from './refused-lines.js';
import {
  missingQueryString,
  RULES,
  readWriteTarget,
  type WriteApi,
  type WriteTarget,
} from './write-target.js';

const { response, json, oneOf, ref } = OpenApi;
const HOW = {
  accept_partial: Type.Optional(Type.Boolean({ description: 'false: write all lines or none' })),
  no_sync: Type.Optional(
    Type.Boolean({ description: 'true: respond before the rows are durable' }),
  ),
};
const TARGETS: Readonly<Record<WriteApi, TProperties>> = {
  native: DB,
  v1: { ...DB, ...RP },
  v2: BUCKET,
};
const queryOf = (api: WriteApi): TProperties => {
  const { precisions, defaultPrecision } = RULES[api];
  const precision = oneOf([...precisions.keys()], { default: defaultPrecision });
  return { ...TARGETS[api], precision: Type.Optional(precision), ...HOW };
};
const SUMMARIES: Readonly<Record<WriteApi, string>> = {
  native: 'Write line protocol',
  v1: 'Write line protocol (v1)',
  v2: 'Write line protocol (v2)',
};
const LINES = Type.String({
  description: 'line protocol; may be sent with Content-Encoding: gzip',
});
const describe = (api: WriteApi): RouteDescription => ({
  about: { summary: SUMMARIES[api] },
  input: {
    query: Type.Object(queryOf(api)),
    body: LINES,
    bodyType: 'text/plain',
    validation: 'targets are cached by query string, and lines have their own parser',
  },
  output: {
    204: response('all lines were written'),
    400: response(
      'some lines were refused; with accept_partial, the others were written',
      json({ anyOf: [ref('RefusedLines'), ref('Error')] }),
    ),
  },
  errors: {
    415: 'unsupported content encoding',
    422: 'a limit of databases, tables or columns is reached, or the columns are too sparse',
    503: 'too many rows are waiting to be stored; retry',
  },
});

const PATHS: Readonly<Record<WriteApi, string>> = {
  native: '/api/v3/write_lp',
  v1: '/write',
  v2: '/api/v2/write',
};

/**
 * Clients send tens of thousands of small requests per second. Everything that is the same for all
 * requests of a client is computed only once. Source: tsdb-http, "Writing".
 */
export function writeRoute(deps: RouteDeps, api: WriteApi): Route {
  const { bodies, settings } = deps;
  const isInfluxdb3 = settings.compat === 'influxdb3';
  const targetOf = cachedByQueryString((text) => readWriteTarget(api, text, isInfluxdb3));
  const headers = api === 'v1' ? versionHeaders(settings) : [];
  const written = { ...emptyResponse(204, headers), isReused: true };
  return {
    method: 'POST',
    path: PATHS[api],
    ...describe(api),
    // Any token with permissions, any user with a password, and admins. WritePath checks the permission for the database.
    access: 'granted',
    cost: { resource: 'tsdb_write' },
    // Bodies are decoded on other threads.
    body: { maxBytes: settings.max_request_size_bytes, isLeftEncoded: true, memory: bodies },
    async handle(request) {
      try {
        const queryString = queryStringOf(request.url);
        if (queryString === undefined) throw missingQueryString(api);
        const target = targetOf(queryString);
        const outcome = await write(request, target, deps, {
          encoding: encodingOf(request.headers['content-encoding']),
        });
        if (outcome.refused.length === 0) return written;
        const { status, body } = refusedLinesResponse(outcome, { api, target, isInfluxdb3 });
        return withHeaders(failureResponse(status, body), headers);
      } finally {
        bodies.release(request.body);
      }
    },
  };
}

/** Writes a body of any format, and counts its rows. */
export async function write(
  { body, principal, client }: Pick<HttpRequest, 'body' | 'principal' | 'client'>,
  target: WriteTarget,
  { engine, catalog, clock, settings, isAuthRequired, onWritten }: RouteDeps,
  format: Pick<WriteRequest, 'encoding' | 'format'>,
): Promise<WriteOutcome> {
  const receivedNs = clock.nowNs();
  // Read the size first, because transferring the body to another thread detaches it.
  const sizeBytes = body.byteLength;
  const outcome = await engine.write({
    database: databaseToWrite(target, catalog),
    access: accessOf(principal, isAuthRequired),
    body,
    ...format,
    maxSizeBytes: settings.max_request_size_bytes,
    precision: target.precision,
    acceptPartial: target.acceptPartial,
    noSync: target.noSync,
    receivedNs,
    clientAddress: client.address,
  });
  onWritten(outcome, sizeBytes);
  return outcome;
}

/** Returns the target database. The first row creates a database or policy that does not exist. */
export function databaseToWrite(
  { database, exactDatabase, isDefaultPolicy }: WriteTarget,
  catalog: RouteDeps['catalog'],
): string {
  if (exactDatabase !== undefined && catalog.database(exactDatabase) !== undefined)
    return exactDatabase;
  if (!isDefaultPolicy) return database;
  return (
    defaultDatabase(database, { databaseOf: (name) => catalog.database(name) })?.name ?? database
  );
}
