import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WriteOutcome } from '../../domain/engine/engine.js';
import { defaultDatabase } from '../../domain/influxql/plan/find-sources.js';
import type { BodyPool } from '../body-pool.js';
import { encodingOf } from '../decode-body.js';
import type { RouteDeps } from '../deps.js';
import { cachedByQueryString, queryStringOf } from '../query-string.js';
import { sendError, sendFailure } from '../to-wire.js';
import { answerRefusedLines } from './refused-lines.js';
import {
  missingQueryString,
  readWriteTarget,
  type WriteApi,
  type WriteTarget,
} from './write-target.js';

const EMPTY = Buffer.alloc(0);

/** Source: tsdb-http, "Writing". */
export function registerWriteRoutes(app: FastifyInstance, deps: RouteDeps, bodies: BodyPool): void {
  registerWrite(app, { ...deps, bodies }, 'native', '/api/v3/write_lp');
  registerWrite(app, { ...deps, bodies }, 'v1', '/write');
  registerWrite(app, { ...deps, bodies }, 'v2', '/api/v2/write');
}

/**
 * One request per line of data is usual, tens of thousands a second: nothing here is looked up, parsed or allocated
 * that is the same for every request of a client.
 */
function registerWrite(
  app: FastifyInstance,
  deps: RouteDeps & { readonly bodies: BodyPool },
  api: WriteApi,
  path: string,
): void {
  const { engine, clock, settings, log } = deps;
  const isInfluxdb3 = settings.compat === 'influxdb3';
  const dialect = api === 'v2' ? 'v2' : 'native';
  const maxSizeBytes = settings.max_request_size_bytes;
  const targetOf = cachedByQueryString((text) => readWriteTarget(api, text, isInfluxdb3));

  const write = async (
    request: FastifyRequest,
    target: WriteTarget,
    receivedNs: bigint,
  ): Promise<WriteOutcome> => {
    const body = request.body instanceof Uint8Array ? request.body : EMPTY;
    // Read first: a body that goes to another thread is empty here afterwards.
    const sizeBytes = body.byteLength;
    const outcome = await engine.write({
      database: target.isDefaultPolicy
        ? (defaultDatabase(target.database, { databaseOf: (name) => deps.catalog.database(name) })
            ?.name ?? target.database)
        : target.database,
      body,
      encoding: encodingOf(request.headers['content-encoding']),
      maxSizeBytes,
      precision: target.precision,
      acceptPartial: target.acceptPartial,
      noSync: target.noSync,
      receivedNs,
    });
    deps.onWritten?.(outcome, sizeBytes);
    return outcome;
  };

  const answer = (outcome: WriteOutcome, target: WriteTarget, reply: FastifyReply): void => {
    if (outcome.refused.length === 0) {
      reply.code(204).send();
      return;
    }
    const { status, body } = answerRefusedLines(outcome, { api, target, isInfluxdb3 });
    sendFailure(reply, status, body);
  };

  app.post(path, {
    errorHandler: (error, _request, reply) => sendError(error, reply, { dialect, log }),
    handler: async (request, reply) => {
      if (api === 'v1') setVersionHeaders(reply, deps);
      const queryString = queryStringOf(request.raw.url ?? '');
      if (queryString === undefined) throw missingQueryString(api);
      const target = targetOf(queryString);
      try {
        answer(await write(request, target, clock.nowNs()), target, reply);
      } finally {
        if (request.body instanceof Uint8Array) deps.bodies.giveBack(request.body);
      }
      return reply;
    },
  });
}

/** Clients of version 1 read these. */
export function setVersionHeaders(reply: FastifyReply, { settings }: RouteDeps): void {
  reply.header('x-influxdb-version', settings.reported_version);
  reply.header('x-influxdb-build', 'Core');
}
