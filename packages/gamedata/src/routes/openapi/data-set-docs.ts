import { OpenApi, type RouteDescription } from '@plinth/kernel';
import { type TProperties, Type } from 'typebox';
import type { ListLimits } from '../../domain/query/list-request.js';
import { MAX_HITS, MAX_OFFSET } from '../../domain/query/parameters.js';
import { COMMON, docsOf, failures, integer, ok, text } from './words.js';

/** Of a search over all collections. */

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

export const INDEX = about('getIndex', 'What there is');
export const ROOT = about('getRoot', 'What there is');
export const CALIBERS = about('listCalibers', 'All calibers', {
  query: COMMON,
  output: listOf('calibers', Type.String()),
  errors: MISSING,
});
export const CATEGORIES = about('listCategories', 'All categories of items', {
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
const KINDS_OF = { kinds: text('some of the collections') };
export const searchWords = ({ maxLimit }: ListLimits): RouteDescription =>
  about('search', 'Look through all collections; mistyped words are found, too', {
    query: {
      q: Type.String({ minLength: 1, maxLength: 500, description: 'expression as in lists' }),
      ...KINDS_OF,
      limit: integer(0, Math.min(maxLimit, MAX_HITS), 'hits in the reply'),
      offset: integer(0, MAX_OFFSET, 'hits to pass over'),
      ...COMMON,
    },
    output: listOf('results', objectOf({ ...HIT, score: Type.Number() })),
    errors: MISSING,
  });
export const SUGGEST = about('suggest', 'Names for a search box', {
  query: {
    q: Type.String({ minLength: 2, maxLength: 50, description: 'what was typed' }),
    ...KINDS_OF,
    limit: integer(1, 20, 'names'),
    ...COMMON,
  },
  output: listOf('suggestions', objectOf(HIT)),
  errors: MISSING,
});
const paging = ({ maxLimit }: ListLimits): TProperties => ({
  limit: integer(0, maxLimit, 'entries in the reply'),
  offset: integer(0, MAX_OFFSET, 'entries to pass over'),
});
export const versionsWords = (limits: ListLimits): RouteDescription =>
  about('listVersions', 'Published versions, newest first', { query: paging(limits) });
export const VERSION_WORDS = about('getVersion', 'One version', {
  parameters: { n: Type.String({ description: 'its number' }) },
  errors: MISSING,
});
export const changesWords = (limits: ListLimits): RouteDescription =>
  about('listChanges', 'What changed since a version', {
    query: {
      since: Type.Integer({
        minimum: 0,
        maximum: MAX_OFFSET,
        description: 'the version you have',
      }),
      kind: text('one collection'),
      ...paging(limits),
    },
    errors: failures(400, 404, 410),
  });
export const BULK = about('listBulkFiles', 'Files with whole collections');
export const BULK_FILE = about('getBulkFile', 'One of these files, as JSON or one record a line', {
  parameters: {
    version: Type.String({ description: '`v<n>` or `latest`' }),
    file: Type.String({ description: '`items.json`, `items.ndjson`, ..., `all.json`' }),
  },
  output: {
    ...ok({}),
    302: OpenApi.answer('the file of the newest version; see Location'),
  },
  errors: MISSING,
});
export const SCHEMAS = about('listSchemas', 'JSON Schemas of the collections');
export const SCHEMA = about('getSchema', 'One of them', {
  parameters: { kind: Type.String({ description: 'the collection' }) },
  errors: MISSING,
});
export const OPEN_API = about('getOpenApi', 'This description');
