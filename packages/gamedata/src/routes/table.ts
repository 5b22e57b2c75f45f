import { type ApiDescription, describeApi, type RouteTable } from '@plinth/kernel';
import { GAMEDATA_API } from './description.js';
import type { GameDataDialect } from './dialect.js';
import type { EditorRouteDeps } from './editor/editor-router.js';
import { editorRoutes } from './editor/editor-routes.js';
import { editorPageRoutes } from './editor-page.js';
import { imageRoutes } from './image-routes.js';
import { type PublicRouteDeps, publicRoutes } from './public-routes.js';

/** Returns all routes of the service, including its API description. */
export function gameDataTable(deps: {
  readonly dialect: GameDataDialect;
  readonly parts: PublicRouteDeps;
  readonly editor: EditorRouteDeps;
}): RouteTable {
  const { dialect, parts, editor } = deps;
  let description: ApiDescription | undefined;
  const describe = (): ApiDescription => {
    description ??= describeApi(
      GAMEDATA_API,
      table.routes.map((route) => ({ route, table })),
    );
    return description;
  };
  const table: RouteTable = {
    dialect,
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
