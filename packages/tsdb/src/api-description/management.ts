import { OpenApi, type QueryParameter } from '@plinth/kernel';
import { type TSchema, Type } from 'typebox';
import { BUCKET, DB, FAILED, FORMAT } from './elements.js';
import { RESULT } from './queries.js';

const { answer, json, oneOf, parameter, ref } = OpenApi;

const TABLE = parameter('table', Type.String(), true);
const DURATION = parameter('duration', Type.String({ description: 'such as 30d or 1h 30m' }), true);
const HARD_DELETE_AT = parameter(
  'hard_delete_at',
  Type.String({
    description: 'when the data go for good: now, never, default or a time of RFC 3339',
  }),
);
const RETENTION = Type.Optional(
  Type.String({ description: 'such as 30d; without it rows are kept for ever' }),
);
const NAMED_DATABASE = Type.Object({ db: Type.String() });
const NAMED_TABLE = Type.Object({ db: Type.String(), table: Type.String() });
const DATABASE_BODY = Type.Object({ db: Type.String(), retention_period: RETENTION });
const TABLE_RETENTION = Type.Object({
  db: Type.String(),
  table: Type.String(),
  retention_period: RETENTION,
});
const TABLE_BODY = Type.Object({
  db: Type.String(),
  table: Type.String(),
  tags: Type.Array(Type.String()),
  fields: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        type: oneOf(['utf8', 'int64', 'uint64', 'float64', 'bool']),
      }),
    ),
  ),
});

const NAME = parameter('name', Type.String(), true);
const CACHE_NAME = Type.Optional(
  Type.String({ description: 'named after the table and its columns without it' }),
);
const LAST_CACHE = Type.Object({
  db: Type.String(),
  table: Type.String(),
  name: CACHE_NAME,
  key_columns: Type.Optional(
    Type.Array(Type.String(), { description: 'the tags of the table without it' }),
  ),
  value_columns: Type.Optional(
    Type.Array(Type.String(), { description: 'all others without it, new ones as they appear' }),
  ),
  count: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'rows of each key' })),
  ttl: Type.Optional(Type.Integer({ minimum: 0, default: 14_400, description: 'seconds' })),
});
const DISTINCT_CACHE = Type.Object({
  db: Type.String(),
  table: Type.String(),
  name: CACHE_NAME,
  columns: Type.Array(Type.String(), { minItems: 1 }),
  max_cardinality: Type.Optional(Type.Integer({ minimum: 1, default: 100_000 })),
  max_age: Type.Optional(Type.Integer({ minimum: 0, default: 86_400, description: 'seconds' })),
});

/** Paths that create, change and delete databases, tables, caches and rows. */
export function managementPaths(): Readonly<Record<string, object>> {
  return {
    '/api/v2/delete': { post: deleteRows() },
    '/api/v3/configure/database': {
      get: listDatabases(),
      post: manage('Create a database', DATABASE_BODY),
      put: manage('Set or clear the retention period of a database', DATABASE_BODY),
      delete: manage('Delete a database', undefined, [DB, HARD_DELETE_AT]),
    },
    '/api/v3/configure/database/undelete': {
      post: manage('Restore a deleted database whose data are still there', NAMED_DATABASE),
    },
    '/api/v3/configure/database/retention_period': {
      post: manage('Set the retention period of a database', undefined, [DB, DURATION], '204'),
      delete: manage('Keep rows of a database for ever', undefined, [DB], '204'),
    },
    '/api/v3/configure/table': {
      post: manage('Create a table', TABLE_BODY),
      put: manage('Set or clear the retention period of a table', TABLE_RETENTION),
      delete: manage('Delete a table', undefined, [DB, TABLE, HARD_DELETE_AT]),
    },
    '/api/v3/configure/table/undelete': {
      post: manage('Restore a deleted table whose data are still there', NAMED_TABLE),
    },
    '/api/v3/configure/last_cache': {
      post: manage('Create a last-value cache', LAST_CACHE, [], '201'),
      delete: manage('Delete a last-value cache', undefined, [DB, TABLE, NAME]),
    },
    '/api/v3/configure/distinct_cache': {
      post: manage('Create a distinct-value cache', DISTINCT_CACHE, [], '201'),
      delete: manage('Delete a distinct-value cache', undefined, [DB, TABLE, NAME]),
    },
  };
}

/** A call that changes what there is; what it is told may come as query string or as JSON. */
export function manage(
  summary: string,
  body: TSchema | undefined,
  parameters: readonly QueryParameter[] = [],
  done: '200' | '201' | '204' = '200',
): object {
  return {
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, content: json(body) } }),
    responses: {
      [done]: answer('done', done === '201' ? json({}) : undefined),
      ...FAILED,
      '403': answer('the database is the server’s own', json(ref('Error'))),
      '404': answer('there is no such thing', json(ref('Error'))),
      '409': answer('it is there already, or deleted already', json(ref('Error'))),
      '415': answer('the body is not said to be JSON', json(ref('Error'))),
      '422': answer('a limit of databases, tables or columns', json(ref('Error'))),
    },
  };
}

function deleteRows(): object {
  const body = Type.Object({
    start: Type.String({ format: 'date-time' }),
    stop: Type.String({ format: 'date-time', description: 'included' }),
    predicate: Type.Optional(
      Type.String({ description: '_measurement="m" AND tag="value"; without it every row' }),
    ),
  });
  return {
    ...manage('Delete rows (v2); rows that are written later stay', body, [BUCKET], '204'),
  };
}

function listDatabases(): object {
  const showDeleted = parameter('show_deleted', Type.Boolean({ default: false }));
  return { summary: 'List databases', parameters: [FORMAT, showDeleted], responses: RESULT };
}
