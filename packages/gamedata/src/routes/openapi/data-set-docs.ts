import { OpenApi, type RouteDescription } from '@plinth/kernel';
import { type TProperties, Type } from 'typebox';
import type { ListLimits } from '../../domain/query/list-request.js';
import { MAX_HITS, MAX_OFFSET } from '../../domain/query/parameters.js';
import { COMMON, docsOf, failures, integer, ok, text } from './route-docs.js';

/** Maximum number of hits of a search over all collections. */

type Given = Omit<Parameters<typeof docsOf>[1], 'operationId' | 'summary' | 'errors'> & {
  readonly errors?: Readonly<Record<number, string>>;
};

const about = (operationId: string, summary: string, given: Given = {}): RouteDescription =>
  docsOf('data set', { operationId, summary, errors: failures(400), ...given });

const listOf = (name: string, item: object) =>
  ok({
    type: 'object',
    properties: { [name]: { type: 'array', items: item } },
    required: [name],
  });
const objectOf = (properties: TProperties): object => ({ type: 'object', properties });
const NULLABLE_TEXT = { type: ['string', 'null'] };
const HIT = { kind: Type.String(), id: Type.String(), name: NULLABLE_TEXT };
const MISSING = failures(400, 404);

export const INDEX = about('getIndex', 'List the collections');
export const ROOT = about('getRoot', 'List the collections');
export const CALIBERS = about('listCalibers', 'List all calibers', {
  query: COMMON,
  output: listOf('calibers', Type.String()),
  errors: MISSING,
});
export const CATEGORIES = about('listCategories', 'List all item categories', {
  query: COMMON,
  output: listOf(
    'categories',
    objectOf({
      id: Type.String(),
      name: Type.String(),
      parent: NULLABLE_TEXT,
      count: Type.Integer(),
    }),
  ),
  errors: MISSING,
});
const KINDS_OF = { kinds: text('only these collections') };
export const searchDocs = ({ maxLimit }: ListLimits): RouteDescription =>
  about('search', 'Search all collections, with tolerance for typos', {
    query: {
      q: Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'search expression, as in lists',
      }),
      ...KINDS_OF,
      limit: integer(0, Math.min(maxLimit, MAX_HITS), 'page size'),
      offset: integer(0, MAX_OFFSET, 'hits to skip'),
      ...COMMON,
    },
    output: listOf('results', objectOf({ ...HIT, score: Type.Number() })),
    errors: MISSING,
  });
export const SUGGEST = about('suggest', 'Suggest names for a search box', {
  query: {
    q: Type.String({ minLength: 2, maxLength: 50, description: 'typed text' }),
    ...KINDS_OF,
    limit: integer(1, 20, 'names'),
    ...COMMON,
  },
  output: listOf('suggestions', objectOf(HIT)),
  errors: MISSING,
});
const paging = ({ maxLimit }: ListLimits): TProperties => ({
  limit: integer(0, maxLimit, 'page size'),
  offset: integer(0, MAX_OFFSET, 'entries to skip'),
});
export const versionsDocs = (limits: ListLimits): RouteDescription =>
  about('listVersions', 'List published versions, newest first', { query: paging(limits) });
export const VERSION_DOCS = about('getVersion', 'Get a version', {
  parameters: { n: Type.String({ description: 'number of the version' }) },
  errors: MISSING,
});
export const changesDocs = (limits: ListLimits): RouteDescription =>
  about('listChanges', 'List changes since a version', {
    query: {
      since: Type.Integer({
        minimum: 0,
        maximum: MAX_OFFSET,
        description: 'version that the client has',
      }),
      kind: text('only this collection'),
      ...paging(limits),
    },
    errors: failures(400, 404, 410),
  });
export const BULK = about('listBulkFiles', 'List files with complete collections');
export const BULK_FILE = about('getBulkFile', 'Get a bulk file as JSON or NDJSON', {
  parameters: {
    version: Type.String({ description: '`v<n>` or `latest`' }),
    file: Type.String({ description: '`items.json`, `items.ndjson`, ..., `all.json`' }),
  },
  output: {
    ...ok({}),
    302: OpenApi.response('the file of the newest version; see Location'),
  },
  errors: MISSING,
});
export const SCHEMAS = about('listSchemas', 'List the JSON Schemas of the collections');
export const SCHEMA = about('getSchema', 'Get a JSON Schema', {
  parameters: { kind: Type.String({ description: 'collection name, such as items' }) },
  errors: MISSING,
});
export const OPEN_API = about('getOpenApi', 'Get this API description');
