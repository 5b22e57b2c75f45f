import {
  type Clock,
  type Dialect,
  type HttpAnswer,
  type HttpRequest,
  type HttpService,
  OpenApi,
  operatorFailure,
  piecesAnswer,
  queryOf,
  withHeaders,
} from '@plinth/kernel';
import { Type } from 'typebox';
import { backupError } from './backup-errors.js';
import type { Backups } from './backups.js';
import type { ScheduledBackups } from './scheduled-backups.js';

const PATH = '/ops/v1/backups';
/** Whatever stands between client and server ends a connection on which nothing moves. */
const SIGN_OF_LIFE_MS = 10_000;
const RETRY_AFTER_SEC = 10;
const NEW_LINE = Buffer.from('\n');

/** What `plinth backup` talks to, and what makes backups by the clock. */
export function createBackupService(
  backups: Backups,
  {
    scheduled,
    clock,
    dialect,
  }: {
    readonly scheduled: ScheduledBackups | undefined;
    readonly clock: Clock;
    readonly dialect: Dialect;
  },
): HttpService {
  return {
    name: 'backup',
    tables: () => [
      {
        dialect,
        api: 'operator',
        answerError(error, request) {
          if (!backupError.is(error)) return dialect.answerError(error, request);
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
              summary: 'Begin a backup, which is there as long as its answer is read',
            },
            output: {
              201: OpenApi.answer('its description as the first line, then signs of life', {
                'application/x-ndjson': { schema: Type.String() },
              }),
            },
            errors: { 503: 'another one is under way' },
            handle: (request) => beginBackup(request, backups, clock),
          },
          {
            method: 'GET',
            path: `${PATH}/:id/file`,
            access: 'backup',
            about: { summary: 'One file of a backup' },
            input: {
              query: Type.Object({ name: Type.String({ description: 'as described' }) }),
              validation: 'a name that is absent is one that no file has',
            },
            output: {
              200: OpenApi.answer('its bytes', { 'application/octet-stream': {} }),
            },
            errors: { 404: 'there is no such backup, or no such file in it' },
            handle({ parameters, url }) {
              const name = new URLSearchParams(queryOf(url)).get('name') ?? '';
              const file = backups.read(parameters['id'] ?? '', name);
              return piecesAnswer(
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
      scheduled?.begin(); // A backup needs all services, which start beside this one.
    },
    async close() {
      await scheduled?.close();
      await backups.close();
    },
  };
}

/** The description as the first line; then signs of life. The backup is there as long as somebody holds the answer. */
async function beginBackup(
  request: HttpRequest,
  backups: Backups,
  clock: Clock,
): Promise<HttpAnswer> {
  const ended = new AbortController();
  const over = AbortSignal.any([request.leaving(), ended.signal]);
  const manifest = await backups.begin(() => ended.abort());
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
  // A proxy that waits for more would wait for ever.
  const headers = [
    ['content-type', 'application/x-ndjson'],
    ['x-accel-buffering', 'no'],
  ] as const;
  return await piecesAnswer(201, headers, lines());
}

async function* piecesOf(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  yield* file;
}
