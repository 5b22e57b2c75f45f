import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE } from '../public-headers.js';
import { unpackedBytesOf } from './editor-body.js';
import { parametersOf } from './editor-requests.js';
import type { EditorRouteParts, EditorRouter } from './editor-router.js';

/** Whole data sets in and out. */
export function registerExchangeRoutes(app: FastifyInstance, router: EditorRouter): void {
  const { parts } = router;
  router.post(
    'import',
    'admin',
    async (request, attempt) => {
      const bytes = await unpackedBytesOf(request, parts.maxImportBytes);
      return await parts.exchange().import(attempt, bytes, importOptions(request));
    },
    { bodyLimit: parts.maxImportBytes },
  );
  for (const url of ['/api/editor/export', '/api/editor/export/']) {
    app.get(url, async (request, reply) => {
      parts.access.require(request, 'read');
      await parts.ready();
      return await sendExport(request, reply, parts);
    });
  }
}

function importOptions(request: FastifyRequest) {
  const parameters = parametersOf(request);
  return {
    format: parameters.choice('format', ['native', 'tarkovdata']) ?? 'native',
    mode: parameters.choice('mode', ['replace', 'merge']) ?? 'merge',
    dryRun: parameters.flag('dryRun') ?? false,
    publish: parameters.flag('publish') ?? false,
    strict: parameters.flag('strict') ?? false,
    overlay: parameters.flag('overlay') ?? false,
  };
}

async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: EditorRouteParts,
): Promise<FastifyReply> {
  const parameters = parametersOf(request);
  const format = parameters.choice('format', ['native', 'tarkovdata']) ?? 'native';
  const isDraft = parameters.flag('drafts') ?? false;
  const version = parameters.integer('version', { min: 1, max: 2_147_483_647 });
  const edition = await parts.library.edition(version);
  const set = isDraft ? parts.editor().draft : edition.set;
  const text = parts.exchange().export(set, format);
  return reply
    .headers({ ...parts.headersFor(request), 'content-type': JSON_TYPE })
    .send(Readable.from(text));
}
