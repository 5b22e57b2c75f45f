import type { Logger, PlainAnswer, PlainRequest, PlainRoute } from '@plinth/kernel';
import type { FastifyInstance } from 'fastify';
import type { WriteOutcome } from '../../domain/engine/engine.js';
import { defaultDatabase } from '../../domain/influxql/plan/find-sources.js';
import type { BodyPool } from '../body-pool.js';
import { encodingOf } from '../decode-body.js';
import type { RouteDeps } from '../deps.js';
import { plainHeaders } from '../plain-request.js';
import { cachedByQueryString, queryStringOf } from '../query-string.js';
import { errorAnswer, failureAnswer, sendAnswer, sendError } from '../to-wire.js';
import { answerRefusedLines } from './refused-lines.js';
import {
  missingQueryString,
  readWriteTarget,
  type WriteApi,
  type WriteTarget,
} from './write-target.js';

const EMPTY = Buffer.alloc(0);
const NO_HEADERS: PlainAnswer['headers'] = [];

const PATHS: Readonly<Record<WriteApi, string>> = {
  native: '/api/v3/write_lp',
  v1: '/write',
  v2: '/api/v2/write',
};

type WriteRequest = Pick<PlainRequest, 'url' | 'headers' | 'body'>;

/** Source: tsdb-http, "Writing". */
export function writeRoutes(deps: RouteDeps): readonly WriteRoute[] {
  return (['native', 'v1', 'v2'] as const).map((api) => new WriteRoute(deps, api));
}

export function registerWriteRoutes(
  app: FastifyInstance,
  routes: readonly WriteRoute[],
  { bodies, log }: { readonly bodies: BodyPool; readonly log: Logger },
): void {
  for (const route of routes) {
    app.post(route.path, {
      config: { rateLimit: { resource: 'tsdb_write' } },
      errorHandler: (error, _request, reply) =>
        sendError(error, reply, { dialect: route.dialect, log }),
      handler: async (request, reply) => {
        const body = request.body instanceof Uint8Array ? request.body : EMPTY;
        const { headers, raw } = request;
        const answer = await route.answer({
          url: raw.url ?? '',
          headers: plainHeaders(headers),
          body,
        });
        bodies.giveBack(body);
        sendAnswer(reply, answer);
        return reply;
      },
    });
  }
}

/**
 * One request per line of data is usual, tens of thousands a second: nothing here is looked up, parsed or allocated
 * that is the same for every request of a client.
 */
export class WriteRoute implements PlainRoute {
  readonly methods = ['POST'] as const;
  readonly path: string;
  readonly access = 'admin';
  readonly front = 'server';
  readonly dialect: 'native' | 'v2';
  readonly #deps: RouteDeps;
  readonly #api: WriteApi;
  readonly #isInfluxdb3: boolean;
  readonly #targetOf: (queryString: string) => WriteTarget;
  readonly #written: PlainAnswer;

  constructor(deps: RouteDeps, api: WriteApi) {
    this.path = PATHS[api];
    this.dialect = api === 'v2' ? 'v2' : 'native';
    this.#deps = deps;
    this.#api = api;
    const isInfluxdb3 = deps.settings.compat === 'influxdb3';
    this.#isInfluxdb3 = isInfluxdb3;
    this.#targetOf = cachedByQueryString((text) => readWriteTarget(api, text, isInfluxdb3));
    const headers = api === 'v1' ? versionHeaders(deps) : NO_HEADERS;
    this.#written = { status: 204, headers, body: undefined };
  }

  async answer(request: WriteRequest): Promise<PlainAnswer> {
    try {
      const queryString = queryStringOf(request.url);
      if (queryString === undefined) throw missingQueryString(this.#api);
      const target = this.#targetOf(queryString);
      const outcome = await this.#write(request, target);
      if (outcome.refused.length === 0) return this.#written;
      const at = { api: this.#api, target, isInfluxdb3: this.#isInfluxdb3 };
      const { status, body } = answerRefusedLines(outcome, at);
      return this.#withHeaders(failureAnswer(status, body));
    } catch (error) {
      const { dialect } = this;
      return this.#withHeaders(errorAnswer(error, { dialect, log: this.#deps.log }));
    }
  }

  async #write(request: WriteRequest, target: WriteTarget): Promise<WriteOutcome> {
    const { engine, catalog, clock, settings } = this.#deps;
    const { body } = request;
    const receivedNs = clock.nowNs();
    // Read first: a body that goes to another thread is empty here afterwards.
    const sizeBytes = body.byteLength;
    const outcome = await engine.write({
      database: target.isDefaultPolicy
        ? (defaultDatabase(target.database, { databaseOf: (name) => catalog.database(name) })
            ?.name ?? target.database)
        : target.database,
      body,
      encoding: encodingOf(request.headers['content-encoding']),
      maxSizeBytes: settings.max_request_size_bytes,
      precision: target.precision,
      acceptPartial: target.acceptPartial,
      noSync: target.noSync,
      receivedNs,
    });
    this.#deps.onWritten?.(outcome, sizeBytes);
    return outcome;
  }

  #withHeaders(answer: PlainAnswer): PlainAnswer {
    return { ...answer, headers: [...this.#written.headers, ...answer.headers] };
  }
}

/** Clients of version 1 read these. */
export function versionHeaders({ settings }: RouteDeps): PlainAnswer['headers'] {
  return [
    ['x-influxdb-version', settings.reported_version],
    ['x-influxdb-build', 'Core'],
  ];
}
