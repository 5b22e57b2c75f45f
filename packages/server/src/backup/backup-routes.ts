import {
  type ApiConventions,
  type Clock,
  type HttpRequest,
  type HttpResponse,
  type HttpService,
  OpenApi,
  operatorFailure,
  piecesResponse,
  queryOf,
  withHeaders,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { backupError } from './backup-errors.js';
import type { Backups } from './backups.js';
import type { ScheduledBackups } from './scheduled-backups.js';

const PATH = '/ops/v1/backups';
/** Interval of keep-alive lines: proxies close idle connections. */
const SIGN_OF_LIFE_MS = 10_000;
const RETRY_AFTER_SEC = 2;
const NEW_LINE = Buffer.from('\n');

/** Creates the routes of `plinth backup`, and the scheduled backups. */
export function createBackupService(
  backups: Backups,
  {
    scheduled,
    clock,
    conventions,
  }: {
    readonly scheduled: ScheduledBackups | undefined;
    readonly clock: Clock;
    readonly conventions: ApiConventions;
  },
): HttpService {
  return {
    name: 'backup',
    routeGroups: () => [
      {
        conventions,
        api: 'operator',
        errorResponse(error, request) {
          if (!backupError.is(error)) return conventions.errorResponse(error, request);
          if (error.kind === 'backup_not_found')
            return operatorFailure(request, 404, error.message);
          const retry = [['retry-after', String(RETRY_AFTER_SEC)]] as const;
          return withHeaders(operatorFailure(request, 503, error.message), retry);
        },
        routes: [
          {
            method: 'POST',
            path: PATH,
            access: 'backup',
            about: {
              summary: 'Start a backup, which exists until its response is closed',
            },
            output: {
              201: OpenApi.response('the manifest as the first line, then keep-alive lines', {
                'application/x-ndjson': { schema: Type.String() },
              }),
            },
            errors: { 503: 'another backup is in progress' },
            handle: (request) => beginBackup(request, backups, clock),
          },
          {
            method: 'GET',
            path: `${PATH}/:id/file`,
            access: 'backup',
            about: { summary: 'Download a file from a backup' },
            input: {
              query: Type.Object({ name: Type.String({ description: 'name from the manifest' }) }),
              validation: 'a missing name matches no file',
            },
            output: {
              200: OpenApi.response('content of the file', { 'application/octet-stream': {} }),
            },
            errors: { 404: 'backup or file not found' },
            handle({ parameters, url }) {
              const name = new URLSearchParams(queryOf(url)).get('name') ?? '';
              const file = backups.read(parameters['id'] ?? '', name);
              return piecesResponse(
                200,
                [['content-type', 'application/octet-stream']],
                piecesOf(file),
              );
            },
          },
        ],
      },
    ],
    async start() {
      await backups.start();
      await scheduled?.prepare();
    },
    warmUp() {
      scheduled?.begin(); // A backup requires all services, which start at the same time as this one.
    },
    async close() {
      await scheduled?.close();
      await backups.close();
    },
  };
}

/**
 * Starts a backup. The response contains the manifest as the first line, then keep-alive lines. The backup exists
 * until this response is closed.
 */
async function beginBackup(
  request: HttpRequest,
  backups: Backups,
  clock: Clock,
): Promise<HttpResponse> {
  const ended = new AbortController();
  const over = AbortSignal.any([request.disconnectSignal(), ended.signal]);
  const manifest = await backups.begin(() => ended.abort(), 'client');
  async function* lines(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield Buffer.from(`${JSON.stringify(manifest)}\n`);
      while (!over.aborted) {
        await clock.sleep(SIGN_OF_LIFE_MS, over).catch(() => undefined);
        if (!over.aborted) yield NEW_LINE;
      }
    } finally {
      await backups.release(manifest.id);
    }
  }
  // A buffering proxy would delay the first line.
  const headers = [
    ['content-type', 'application/x-ndjson'],
    ['x-accel-buffering', 'no'],
  ] as const;
  return await piecesResponse(201, headers, lines());
}

async function* piecesOf(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield* file;
}
