import type { HttpRequest, Route, RouteInput } from '@plinth/kernel';
import { KIND_WIRE, KINDS } from '../../model/kinds.js';
import { type EditorRouteDeps, EditorRouter, editorDocs, withSlash } from './editor-router.js';
import { exchangeRoutes } from './exchange-routes.js';
import { historyRoutes } from './history-routes.js';
import { publishingRoutes } from './publishing-routes.js';
import { recordRoutes } from './record-routes.js';

const TYPES = { operationId: 'listTypes', summary: 'List types with their record counts' };

const SESSION = { operationId: 'getSession', summary: 'Get the name and scopes of the token' };

/** Source: gamedata, section 6. */
export function editorRoutes(parts: EditorRouteDeps): readonly Route[] {
  const router = new EditorRouter(parts);
  return [
    // The list of types is public; the number of changes is visible only to editors.
    ...withSlash('types').map(
      (path, index): Route => ({
        method: 'GET',
        path,
        access: 'public',
        ...editorDocs('types', TYPES),
        isAlias: index > 0,
        async handle(request) {
          await parts.ready();
          return router.respond({ body: await typesOf(request, parts) });
        },
      }),
    ),
    // Every valid token may read its own scopes, so that a page can show what it permits.
    ...withSlash('session').map(
      (path, index): Route<RouteInput, 'editor'> => ({
        method: 'GET',
        path,
        access: 'editor',
        ...editorDocs('session', SESSION),
        isAlias: index > 0,
        handle: ({ principal: { name, scopes } }) =>
          router.respond({ body: { name, scopes: [...scopes] } }),
      }),
    ),
    ...publishingRoutes(router),
    ...historyRoutes(router),
    ...exchangeRoutes(router),
    ...recordRoutes(router),
  ];
}

async function typesOf(request: HttpRequest, parts: EditorRouteDeps): Promise<unknown> {
  const published = parts.library.current.set.counts();
  const editor = parts.editor;
  const isEditor = request.principal.kind === 'editor';
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
