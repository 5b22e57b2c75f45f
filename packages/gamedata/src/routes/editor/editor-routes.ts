import { routesFor } from '@plinth/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { KIND_WIRE, KINDS } from '../../model/kinds.js';
import { acceptJsonBytes } from './editor-body.js';
import { type EditorRouteParts, EditorRouter } from './editor-router.js';
import { registerExchangeRoutes } from './exchange-routes.js';
import { registerHistoryRoutes } from './history-routes.js';
import { registerPublishingRoutes } from './publishing-routes.js';
import { registerRecordRoutes } from './record-routes.js';

/** Source: gamedata, section 6. */
export function registerEditorRoutes(app: FastifyInstance, parts: EditorRouteParts): void {
  routesFor(app, 'editor');
  acceptJsonBytes(app);
  const router = new EditorRouter(app, parts);
  for (const url of ['/api/editor/types', '/api/editor/types/']) {
    // What there is to edit is no secret; how much of it is changed is told to editors.
    app.get(url, { config: { access: 'public' } }, async (request, reply) => {
      await parts.ready();
      return router.send(request, reply, { body: await typesOf(request, parts) });
    });
  }
  registerPublishingRoutes(router);
  registerHistoryRoutes(router);
  registerExchangeRoutes(app, router);
  registerRecordRoutes(router);
}

async function typesOf(request: FastifyRequest, parts: EditorRouteParts): Promise<unknown> {
  const published = parts.library.current.set.counts();
  const editor = parts.editor();
  const isEditor = parts.access.actorOf(request) !== undefined;
  const drafts = isEditor ? editor.draft.counts() : undefined;
  const changed = isEditor ? await editor.publishing.changedCounts() : undefined;
  return {
    types: KINDS.map((kind) => ({
      key: KIND_WIRE[kind].typeKey,
      count: published[kind],
      ...(drafts && changed && { draft: drafts[kind], changed: changed[kind] }),
    })),
  };
}
