import type { ListLimits } from '../../domain/query/list-request.js';
import { failures, OBJECT, type Operation, ok } from './operation.js';
import { COMMON, inPath, integer, type Parameter, query, text } from './parameters.js';

/** Of a search over all collections. */
const MAX_HITS = 1000;

/** What is about the data as a whole: search, versions, bulk files, schemas. */
export function dataSetPaths(limits: ListLimits): Record<string, Operation> {
  const paging = [
    query('limit', integer(0, limits.maxLimit), 'entries in the reply'),
    query('offset', integer(0, 2_147_483_647), 'entries to pass over'),
  ];
  const kinds = query('kinds', text(), 'some of the collections');
  const string = { type: 'string' };
  const hit = { kind: string, id: string, name: { type: ['string', 'null'] } };
  return {
    '/api': get('getIndex', 'What there is', [], OBJECT),
    '/api/ammunition/calibers/list': get(
      'listCalibers',
      'All calibers',
      COMMON,
      listOfStrings('calibers'),
      [404],
    ),
    '/api/items/categories/list': get(
      'listCategories',
      'All categories of items',
      COMMON,
      listOf('categories', {
        id: string,
        name: string,
        parent: { type: ['string', 'null'] },
        count: { type: 'integer' },
      }),
      [404],
    ),
    '/api/search': get(
      'search',
      'Look through all collections; mistyped words are found, too',
      [
        {
          ...query('q', text({ minLength: 1, maxLength: 500 }), 'expression as in lists'),
          required: true,
        },
        kinds,
        query('limit', integer(0, Math.min(limits.maxLimit, MAX_HITS)), 'hits in the reply'),
        query('offset', integer(0, 2_147_483_647), 'hits to pass over'),
        ...COMMON,
      ],
      listOf('results', { ...hit, score: { type: 'number' } }),
      [404],
    ),
    '/api/suggest': get(
      'suggest',
      'Names for a search box',
      [
        { ...query('q', text({ minLength: 2, maxLength: 50 }), 'what was typed'), required: true },
        kinds,
        query('limit', integer(1, 20), 'names'),
        ...COMMON,
      ],
      listOf('suggestions', hit),
      [404],
    ),
    '/api/versions': get('listVersions', 'Published versions, newest first', paging, OBJECT),
    '/api/versions/{n}': get(
      'getVersion',
      'One version',
      [inPath('n', 'its number')],
      OBJECT,
      [404],
    ),
    '/api/changes': get(
      'listChanges',
      'What changed since a version',
      [
        { ...query('since', integer(0, 2_147_483_647), 'the version you have'), required: true },
        query('kind', text(), 'one collection'),
        ...paging,
      ],
      OBJECT,
      [404, 410],
    ),
    '/api/bulk': get('listBulkFiles', 'Files with whole collections', [], OBJECT),
    '/api/bulk/{version}/{file}': withRedirect(
      get(
        'getBulkFile',
        'One of these files, as JSON or one record a line',
        [
          inPath('version', '`v<n>` or `latest`'),
          inPath('file', '`items.json`, `items.ndjson`, ..., `all.json`'),
        ],
        {},
        [404],
      ),
      302,
      'the file of the newest version; see Location',
    ),
    '/api/schemas': get('listSchemas', 'JSON Schemas of the collections', [], OBJECT),
    '/api/schemas/{kind}': get(
      'getSchema',
      'One of them',
      [inPath('kind', 'the collection')],
      OBJECT,
      [404],
    ),
    '/api/openapi.json': get('getOpenApi', 'This description', [], OBJECT),
  };
}

function withRedirect<T extends { readonly get: { readonly responses: object } }>(
  { get }: T,
  status: number,
  description: string,
): Operation {
  return { get: { ...get, responses: { ...get.responses, [status]: { description } } } };
}

function get(
  operationId: string,
  summary: string,
  parameters: readonly Parameter[],
  schema: object,
  more: readonly number[] = [],
) {
  return {
    get: {
      operationId,
      summary,
      tags: ['data set'],
      parameters,
      responses: { ...ok(schema), ...failures(400, ...more) },
    },
  };
}

const listOfStrings = (name: string): object => ({
  type: 'object',
  properties: { [name]: { type: 'array', items: { type: 'string' } } },
  required: [name],
});

const listOf = (name: string, properties: object): object => ({
  type: 'object',
  properties: { [name]: { type: 'array', items: { type: 'object', properties } } },
  required: [name],
});
