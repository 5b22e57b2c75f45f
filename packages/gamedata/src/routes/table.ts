import { type ApiDescription, describeApi, type RouteGroup } from '@plinth/kernel';
import type { GameDataConventions } from './conventions.js';
import { GAMEDATA_API } from './description.js';
import type { EditorRouteDeps } from './editor/editor-router.js';
import { editorRoutes } from './editor/editor-routes.js';
import { editorPageRoutes } from './editor-page.js';
import { imageRoutes } from './image-routes.js';
import { type PublicRouteDeps, publicRoutes } from './public-routes.js';

/** Returns all routes of the service, including its API description. */
export function gameDataRouteGroup(deps: {
  readonly conventions: GameDataConventions;
  readonly parts: PublicRouteDeps;
  readonly editor: EditorRouteDeps;
}): RouteGroup {
  const { conventions, parts, editor } = deps;
  let description: ApiDescription | undefined;
  const describe = (): ApiDescription => {
    description ??= describeApi(
      GAMEDATA_API,
      table.routes.map((route) => ({ route, table })),
    );
    return description;
  };
  const table: RouteGroup = {
    conventions,
    api: 'gamedata',
    routes: [
      ...publicRoutes(parts, describe),
      ...imageRoutes(parts),
      ...editorPageRoutes(),
      ...editorRoutes(editor),
    ],
  };
  return table;
}
