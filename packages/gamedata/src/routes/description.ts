import type { ApiDocs } from '@plinth/kernel';
import { recordSchemas } from './openapi/record-schemas.js';
import { FAULT } from './openapi/route-docs.js';
import { VERSION } from './pages/about-pages.js';

export const GAMEDATA_API: ApiDocs = {
  title: 'Plinth game data',
  version: VERSION,
  description:
    'Game data in several languages, and operations for editors. Read operations for the public data require no credentials.',
  schemas: () => ({ ...recordSchemas(), Fault: FAULT }),
};
