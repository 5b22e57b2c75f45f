import { createReadStream } from 'node:fs';
import { type HttpService, routesFor, sendJson } from '@plinth/kernel';
import type { FastifyReply } from 'fastify';
import { BackupNotFound, TooManyBackups } from './backup-errors.js';
import type { Backups } from './backups.js';

const PATH = '/ops/v1/backups';

/** What `plinth backup` talks to. */
export function createBackupService(backups: Backups): HttpService {
  return {
    name: 'backup',
    async register(app) {
      routesFor(app, 'admin');
      app.setErrorHandler((error, _request, reply) => {
        if (error instanceof BackupNotFound) return fail(reply, 404, error.message);
        if (error instanceof TooManyBackups) return fail(reply, 503, error.message);
        throw error;
      });
      app.post(PATH, async (_request, reply) => sendJson(reply, 201, await backups.begin()));
      app.get<{ Params: { id: string }; Querystring: { name?: string } }>(
        `${PATH}/:id/file`,
        async (request, reply) => {
          const path = backups.pathOf(request.params.id, request.query.name ?? '');
          return reply.type('application/octet-stream').send(createReadStream(path));
        },
      );
      app.delete<{ Params: { id: string } }>(`${PATH}/:id`, async (request, reply) => {
        await backups.release(request.params.id);
        return reply.code(204).send();
      });
    },
    start: () => backups.start(),
    close: () => backups.close(),
  };
}

function fail(reply: FastifyReply, status: number, error: string): FastifyReply {
  return sendJson(reply, status, { error, data: {} });
}
