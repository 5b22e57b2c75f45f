import { Readable } from 'node:stream';
import { type Clock, type HttpService, routesFor, sendJson } from '@plinth/kernel';
import type { FastifyReply } from 'fastify';
import { BackupNotFound, TooManyBackups } from './backup-errors.js';
import type { Backups } from './backups.js';

const PATH = '/ops/v1/backups';
/** Whatever stands between client and server ends a connection on which nothing moves. */
const SIGN_OF_LIFE_MS = 10_000;
const RETRY_AFTER_SEC = 10;

/** What `plinth backup` talks to. */
export function createBackupService(backups: Backups, clock: Clock): HttpService {
  return {
    name: 'backup',
    async register(app) {
      routesFor(app, 'admin');
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof BackupNotFound) return fail(reply, 404, error.message);
        if (error instanceof TooManyBackups) {
          return fail(reply.header('retry-after', RETRY_AFTER_SEC), 503, error.message);
        }
        throw error;
      });
      app.post(PATH, async (_request, reply) =>
        reply
          .code(201)
          .type('application/x-ndjson')
          .header('x-accel-buffering', 'no') // A proxy that waits for more would wait for ever.
          .send(await beginBackup(backups, clock)),
      );
      app.get<{ Params: { id: string }; Querystring: { name?: string } }>(
        `${PATH}/:id/file`,
        async (request, reply) => {
          const file = backups.read(request.params.id, request.query.name ?? '');
          return reply.type('application/octet-stream').send(file);
        },
      );
    },
    start: () => backups.start(),
    close: () => backups.close(),
  };
}

/** The description as the first line; then signs of life. The backup is there as long as somebody holds the answer. */
async function beginBackup(backups: Backups, clock: Clock): Promise<Readable> {
  let id: string | undefined;
  let ticker: Disposable | undefined;
  const answer = new Readable({
    read() {},
    destroy(error, done) {
      ticker?.[Symbol.dispose]();
      const released = id === undefined ? Promise.resolve() : backups.release(id);
      released.then(
        () => done(error),
        (failure: unknown) => done(failure instanceof Error ? failure : error),
      );
    },
  });
  const manifest = await backups.begin(() => answer.push(null));
  id = manifest.id;
  answer.push(`${JSON.stringify(manifest)}\n`);
  ticker = clock.every(SIGN_OF_LIFE_MS, () => {
    answer.push('\n');
  });
  return answer;
}

function fail(reply: FastifyReply, status: number, error: string): FastifyReply {
  return sendJson(reply, status, { error, data: {} });
}
