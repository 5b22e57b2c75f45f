import type { ApiDocs } from '@plinth/kernel';
import { recordSchemas } from './openapi/record-schemas.js';
import { FAULT } from './openapi/route-docs.js';
import { VERSION } from './pages/about-pages.js';

export const GAMEDATA_API: ApiDocs = {
  title: 'Plinth game data',
  version: VERSION,
  description:
    'Read-only data about a game, in several languages, and an editor group. Reading needs no credentials.',
  schemas: () => ({ ...recordSchemas(), Fault: FAULT }),
};
