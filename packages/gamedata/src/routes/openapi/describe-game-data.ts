import type { ListLimits } from '../../domain/query/list-request.js';
import { VERSION } from '../pages/about-pages.js';
import { collectionPaths } from './collection-paths.js';
import { dataSetPaths } from './data-set-paths.js';
import { editorPaths } from './editor-paths.js';
import { ERROR, FAULT } from './operation.js';
import { recordSchemas } from './record-schemas.js';

/** OpenAPI 3.1 of everything that is served, from the schemas that are checked. */
export function describeGameData(limits: ListLimits): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth game data',
      version: VERSION,
      description:
        'Read-only data about a game, in several languages, and an editor group. Reading needs no credentials.',
    },
    paths: { ...collectionPaths(limits), ...dataSetPaths(limits), ...editorPaths() },
    components: {
      schemas: {
        ...recordSchemas(),
        Error: ERROR,
        Fault: FAULT,
      },
      securitySchemes: { editor: { type: 'http', scheme: 'bearer' } },
    },
  };
}
