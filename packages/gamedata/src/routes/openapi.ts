import { type TSchema, Type } from 'typebox';
import { KIND_SPECS } from '../domain/kinds/index.js';
import type { ListLimits } from '../domain/query/list-request.js';
import { KIND_WIRE, KINDS, type Kind } from '../model/kinds.js';
import { servedSchema } from '../model/schemas/served.js';
import { STORED_SCHEMAS } from '../model/schemas/stored.js';
import { VERSION } from './public-pages.js';

interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required: boolean;
  readonly description: string;
  readonly schema: object;
}
type Operation = Readonly<Record<string, unknown>>;

/** Names of the records' schemas, in the singular. */
const SCHEMA_NAMES: Readonly<Record<Kind, string>> = {
  items: 'Item',
  ammunition: 'Ammunition',
  traders: 'Trader',
  quests: 'Quest',
  maps: 'Map',
  hideout: 'HideoutModule',
  'item-presets': 'ItemPreset',
  levels: 'Level',
  storyline: 'StorylineElement',
};

const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object): object => ({ 'application/json': { schema } });
const query = (name: string, schema: object, description: string): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
});
const inPath = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});
const text = (options: object = {}): object => ({ type: 'string', ...options });
const integer = (minimum: number, maximum: number, options: object = {}): object => ({
  type: 'integer',
  minimum,
  maximum,
  ...options,
});

/** OpenAPI 3.1 of everything that is served, from the schemas that are checked. */
export function describeGameData(limits: ListLimits): Record<string, unknown> {
  const paths: Record<string, Operation> = {};
  for (const kind of KINDS) {
    paths[`/api/${kind}`] = { get: listOperation(kind, limits) };
    const id = kind === 'levels' ? 'level' : 'id';
    paths[`/api/${kind}/{${id}}`] = { get: recordOperation(kind, id) };
  }
  Object.assign(paths, otherPaths(limits), editorPaths());
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plinth game data',
      version: VERSION,
      description:
        'Read-only data about a game, in several languages, and an editor group. Reading needs no credentials.',
    },
    paths,
    components: {
      schemas: {
        ...Object.fromEntries(KINDS.map((kind) => [SCHEMA_NAMES[kind], servedSchema(kind)])),
        ...Object.fromEntries(
          KINDS.map((kind) => [`${SCHEMA_NAMES[kind]}Draft`, draftSchema(kind)]),
        ),
        ...PARTS,
        Error: ERROR,
        Fault: FAULT,
      },
      securitySchemes: { editor: { type: 'http', scheme: 'bearer' } },
    },
  };
}

const FAULT: TSchema = Type.Object({
  path: Type.String(),
  code: Type.String(),
  message: Type.String(),
  type: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
});
const ERROR: TSchema = Type.Object({
  error: Type.String(),
  code: Type.String(),
  param: Type.Optional(Type.String()),
  position: Type.Optional(Type.Integer()),
  details: Type.Optional(Type.Array(FAULT)),
});

/** What an editor sends: only members without a default are required. */
function draftSchema(kind: Kind): object {
  const { updatedAt: _set, source: _hidden, ...properties } = STORED_SCHEMAS[kind].properties;
  const required = Object.entries(properties)
    .filter(([name, schema]) => name !== 'slug' && Reflect.get(schema, 'default') === undefined)
    .map(([name]) => name);
  return { type: 'object', properties, required };
}

const failures = (...statuses: readonly number[]): object =>
  Object.fromEntries(
    statuses.map((status) => [
      String(status),
      { description: FAILURES[status], content: json(ref('Error')) },
    ]),
  );
const FAILURES: Readonly<Record<number, string>> = {
  400: 'a parameter or the body cannot be used',
  401: 'no valid token',
  403: 'the token lacks the scope',
  404: 'there is no such record',
  409: 'not possible in the present state',
  410: 'the version is no longer kept',
  412: 'the record was changed since it was read',
  413: 'the body is too large',
  415: 'the body is not JSON',
  428: 'the change has to say which state it is about (If-Match)',
  429: 'too many wrong tokens',
};

const ok = (schema: object, description = 'OK'): object => ({
  '200': { description, content: json(schema) },
});

const COMMON: readonly Parameter[] = [
  query('lang', text(), 'language code of the data set, or `all`'),
  query('version', integer(1, 2_147_483_647), 'a published version; the newest unless said'),
  query('strict', { type: 'boolean' }, '`true`: unknown parameters are refused'),
];

function listOperation(kind: Kind, limits: ListLimits): Operation {
  const { isPaged } = KIND_WIRE[kind];
  const spec = KIND_SPECS[kind];
  const byDefault = isPaged ? { default: limits.defaultLimit } : {};
  const parameters: Parameter[] = [
    query('limit', integer(0, limits.maxLimit, byDefault), 'records in the reply'),
    query('offset', integer(0, 2_147_483_647, { default: 0 }), 'records to pass over'),
    query('search', text({ maxLength: 100 }), 'part of a name, whatever its case and marks'),
    query('q', text({ maxLength: 500 }), 'expression: words, "phrases", field:value, OR, -not'),
    query('sort', text(), `keys: ${spec.sortKeys.join(', ')}; - in front for descending`),
    query('fields', text(), 'members to show, as dot paths'),
    query('ids', text(), 'up to 250 ids'),
    query('envelope', text({ enum: ['page'] }), 'the same envelope for every list'),
    ...includeParameters(kind),
    ...Object.entries(spec.filters).map(([name, filter]) => filterParameter(kind, name, filter)),
    ...COMMON,
  ];
  return {
    operationId: `list${SCHEMA_NAMES[kind]}`,
    summary: `List ${kind}`,
    tags: [kind],
    parameters,
    responses: { ...ok(listSchema(kind)), ...failures(400, 404) },
  };
}

function includeParameters(kind: Kind): readonly Parameter[] {
  const relations = Object.keys(KIND_SPECS[kind].includes);
  if (relations.length === 0) return [];
  return ['include', 'expand'].map((name) =>
    query(name, text(), `related records, in \`included\`: ${relations.join(', ')}`),
  );
}

function filterParameter(
  kind: Kind,
  name: string,
  filter: (typeof KIND_SPECS)[Kind]['filters'][string],
): Parameter {
  if (filter.type !== 'any-of')
    return query(name, { type: 'number' }, `${filter.type} of ${filter.field}`);
  const field = KIND_SPECS[kind].fields[filter.field];
  if (field?.type === 'flag') return query(name, { type: 'boolean' }, `only where ${name} is so`);
  if (field?.type === 'relation')
    return query(name, text(), `id, slug or name of ${field.kind}; commas for any of`);
  const values = field?.type === 'words' ? field.values : undefined;
  const known = values === undefined ? '' : `: ${values.join(', ')}`;
  return query(name, text(), `any of${known}`);
}

/**
 * The list in its own envelope comes first; then the same with `envelope=page`, and both with records of which
 * `fields` left members out.
 */
function listSchema(kind: Kind): object {
  const shapes = [ref(SCHEMA_NAMES[kind]), ref(partsName(kind))].flatMap((record) => [
    ownEnvelope(kind, record),
    pageEnvelope(record),
  ]);
  return { anyOf: shapes };
}

/** Every list is keyed by id but one. */
const partsName = (kind: Kind): string => (kind === 'levels' ? 'LevelParts' : 'RecordParts');

const PARTS = {
  RecordParts: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  LevelParts: { type: 'object', properties: { level: { type: 'integer' } }, required: ['level'] },
};

function ownEnvelope(kind: Kind, record: object): object {
  const list = { type: 'array', items: record };
  const { listKey } = KIND_WIRE[kind];
  if (listKey !== undefined) return envelope(listKey, list);
  if (kind === 'traders') return { type: 'object', additionalProperties: record };
  if (kind === 'hideout')
    return { type: 'object', properties: { modules: list }, required: ['modules'] };
  return list;
}

const pageEnvelope = (record: object): object =>
  envelope('data', { type: 'array', items: record }, { version: { type: 'integer', minimum: 1 } });

function envelope(key: string, list: object, more: Readonly<Record<string, object>> = {}): object {
  const link = { type: ['string', 'null'] };
  const count = { type: 'integer', minimum: 0 };
  return {
    type: 'object',
    properties: {
      total: count,
      count,
      offset: count,
      limit: count,
      next: link,
      previous: link,
      notFound: { type: 'array', items: { type: 'string' } },
      included: { type: 'object', additionalProperties: { type: 'object' } },
      ...more,
      [key]: list,
    },
    required: ['total', 'count', 'offset', 'limit', 'next', 'previous', key, ...Object.keys(more)],
  };
}

function recordOperation(kind: Kind, id: string): Operation {
  return {
    operationId: `get${SCHEMA_NAMES[kind]}`,
    summary: `One of ${kind}`,
    tags: [kind],
    parameters: [
      inPath(id, kind === 'traders' || kind === 'maps' ? 'id, slug or name' : 'id or slug'),
      query('fields', text(), 'members to show, as dot paths'),
      ...includeParameters(kind),
      ...COMMON,
    ],
    responses: {
      ...ok({ anyOf: [ref(SCHEMA_NAMES[kind]), ref(partsName(kind))] }),
      '301': { description: 'the record has another id; see Location' },
      ...failures(400, 404),
    },
  };
}

const OBJECT = { type: 'object' };
/** Of a search over all collections. */
const MAX_HITS = 1000;

function withRedirect<T extends { readonly get: { readonly responses: object } }>(
  { get }: T,
  status: number,
  description: string,
): Operation {
  return { get: { ...get, responses: { ...get.responses, [status]: { description } } } };
}

function otherPaths(limits: ListLimits): Record<string, Operation> {
  const get = (
    operationId: string,
    summary: string,
    parameters: readonly Parameter[],
    schema: object,
    more: readonly number[] = [],
  ) => ({
    get: {
      operationId,
      summary,
      tags: ['data set'],
      parameters,
      responses: { ...ok(schema), ...failures(400, ...more) },
    },
  });
  const strings = (name: string) => ({
    type: 'object',
    properties: { [name]: { type: 'array', items: { type: 'string' } } },
    required: [name],
  });
  const list = (name: string, properties: object) => ({
    type: 'object',
    properties: { [name]: { type: 'array', items: { type: 'object', properties } } },
    required: [name],
  });
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
      strings('calibers'),
      [404],
    ),
    '/api/items/categories/list': get(
      'listCategories',
      'All categories of items',
      COMMON,
      list('categories', {
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
      list('results', { ...hit, score: { type: 'number' } }),
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
      list('suggestions', hit),
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

const EDITOR_FAILURES = [400, 401, 403, 404, 409, 412, 413, 415, 428, 429] as const;

function editorPaths(): Record<string, Operation> {
  const type = inPath('type', KINDS.map((kind) => KIND_WIRE[kind].typeKey).join(', '));
  const id = inPath('id', 'id of the record');
  const draft = {
    required: true,
    content: json({ anyOf: KINDS.map((kind) => ref(`${SCHEMA_NAMES[kind]}Draft`)) }),
  };
  const operation = (operationId: string, summary: string, more: Operation = {}) => ({
    operationId,
    summary,
    tags: ['editor'],
    security: [{ editor: [] }],
    ...more,
    responses: { ...ok(OBJECT), ...failures(...EDITOR_FAILURES) },
  });
  const paging = [
    query('limit', integer(0, 1000), 'entries in the reply'),
    query('offset', integer(0, 2_147_483_647), 'entries to pass over'),
  ];
  return {
    '/api/editor/types': {
      get: { ...operation('listTypes', 'Types and how many records each has'), security: [] },
    },
    '/api/editor/{type}': {
      get: operation('listDrafts', 'All records of the draft', { parameters: [type] }),
      post: operation('createRecord', 'Make a record', {
        parameters: [
          type,
          query(
            'generateId',
            { type: 'boolean' },
            'the server makes the id where the body has none',
          ),
        ],
        requestBody: draft,
      }),
    },
    '/api/editor/{type}/{id}': {
      get: operation('getDraft', 'One record of the draft', {
        parameters: [
          type,
          id,
          query('published', { type: 'boolean' }, 'as it is published instead'),
        ],
      }),
      put: operation('replaceRecord', 'Replace a record', {
        parameters: [type, id],
        requestBody: draft,
      }),
      patch: operation('patchRecord', 'Change members (RFC 7396)', {
        parameters: [type, id],
        requestBody: { required: true, content: json(OBJECT) },
      }),
      delete: operation('deleteRecord', 'Delete a record', {
        parameters: [
          type,
          id,
          query('force', { type: 'boolean' }, 'also when others name it'),
          query('replacedBy', text(), 'where its id leads from then on'),
        ],
      }),
    },
    '/api/editor/save': { post: operation('publish', 'Check and publish the draft') },
    '/api/editor/save/{type}': {
      post: operation('publishType', 'Publish one type', { parameters: [type] }),
    },
    '/api/editor/discard': { post: operation('discard', 'Drop what is not published') },
    '/api/editor/discard/{type}': {
      post: operation('discardType', 'Drop what is not published of one type', {
        parameters: [type],
      }),
    },
    '/api/editor/validate': { get: operation('validate', 'Faults of the draft') },
    '/api/editor/validate/{type}': {
      get: operation('validateType', 'Faults of one type', { parameters: [type] }),
    },
    '/api/editor/history': {
      get: operation('listHistory', 'Who changed what', {
        parameters: [
          ...['type', 'id', 'actor', 'op'].map((name) => query(name, text(), `of this ${name}`)),
          ...paging,
        ],
      }),
    },
    '/api/editor/versions': { get: operation('listEditorVersions', 'Versions, newest first') },
    '/api/editor/undo': { post: operation('undo', 'Take back an own change') },
    '/api/editor/redo': { post: operation('redo', 'Do it again') },
    '/api/editor/versions/{n}/restore': {
      post: operation('restore', 'Publish an older version again', {
        parameters: [inPath('n', 'its number')],
      }),
    },
    '/api/editor/import': {
      post: operation('importData', 'Take in a data set', {
        parameters: [
          query('format', text({ enum: ['native', 'tarkovdata'] }), 'layout of the body'),
          query('mode', text({ enum: ['merge', 'replace'] }), 'by id, or everything'),
          query('dryRun', { type: 'boolean' }, 'only report'),
          query('publish', { type: 'boolean' }, 'publish at once'),
          query('strict', { type: 'boolean' }, 'any warning refuses the whole'),
          query('overlay', { type: 'boolean' }, 'do edits made by hand again on top'),
        ],
        requestBody: { required: true, content: json(OBJECT) },
      }),
    },
    '/api/editor/export': {
      get: operation('exportData', 'Give out the whole data set', {
        parameters: [
          query('format', text({ enum: ['native', 'tarkovdata'] }), 'layout of the answer'),
          query('drafts', { type: 'boolean' }, 'with what is not published yet'),
          query('version', integer(1, 2_147_483_647), 'an older version'),
        ],
      }),
    },
  };
}
