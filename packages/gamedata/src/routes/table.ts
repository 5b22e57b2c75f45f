import type { RouteTable } from '@plinth/kernel';
import type { GameDataDialect } from './dialect.js';
import type { EditorRouteParts } from './editor/editor-router.js';
import { editorRoutes } from './editor/editor-routes.js';
import { editorPageRoutes } from './editor-page.js';
import { imageRoutes } from './image-routes.js';
import { publicReads } from './public-reads.js';
import { type PublicRouteParts, publicRoutes } from './public-routes.js';

/** All that the service answers. */
export function gameDataTable(needs: {
  readonly dialect: GameDataDialect;
  readonly parts: PublicRouteParts;
  readonly editor: EditorRouteParts;
}): RouteTable {
  const { dialect, parts, editor } = needs;
  return {
    dialect,
    api: 'gamedata',
    routes: [
      ...publicRoutes(publicReads(parts), parts),
      ...imageRoutes(parts),
      ...editorPageRoutes(),
      ...editorRoutes(editor),
    ],
  };
}
