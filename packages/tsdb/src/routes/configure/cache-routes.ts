import {
  bytesResponse,
  type HttpResponse,
  OpenApi,
  type Route,
  type RouteDocs,
} from '@plinth/kernel';
import type { CacheDefinition } from '@plinth/tsdb-caches/cache-definitions.js';
import { columnsOf } from '@plinth/tsdb-caches/cache-definitions.js';
import { MAX_NAME_LENGTH } from '@plinth/tsdb-model/database/limits.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { Type } from 'typebox';
import type { RouteDeps } from '../deps.js';
import { MANAGEMENT_FAILED, TABLE } from '../description.js';
import { ManagementInput } from './management-input.js';
import { tableOf } from './table-routes.js';

const LAST = '/api/v3/configure/last_cache';
const DISTINCT = '/api/v3/configure/distinct_cache';

const CREATED = {
  output: { 201: OpenApi.response('the new cache', OpenApi.json(Type.Object({}))) },
  errors: MANAGEMENT_FAILED,
} as const;
const NAME = Type.Optional(
  Type.String({
    maxLength: MAX_NAME_LENGTH,
    description: 'derived from the table and its columns if absent',
  }),
);
const LAST_DOCS: RouteDocs = {
  summary: 'Create a last-value cache',
  body: Type.Object({
    ...TABLE,
    name: NAME,
    key_columns: Type.Optional(
      Type.Array(Type.String(), { description: 'the tags of the table if absent' }),
    ),
    value_columns: Type.Optional(
      Type.Array(Type.String(), {
        description: 'all other columns if absent, including future ones',
      }),
    ),
    count: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'rows per key' })),
    ttl: Type.Optional(Type.Integer({ minimum: 0, default: 14_400, description: 'seconds' })),
  }),
};
const DISTINCT_DOCS: RouteDocs = {
  summary: 'Create a distinct-value cache',
  body: Type.Object({
    ...TABLE,
    name: NAME,
    columns: Type.Array(Type.String(), { minItems: 1 }),
    max_cardinality: Type.Optional(Type.Integer({ minimum: 1, default: 100_000 })),
    max_age: Type.Optional(Type.Integer({ minimum: 0, default: 86_400, description: 'seconds' })),
  }),
};
const deletionDocs = (kind: CacheDefinition['kind']): RouteDocs => ({
  summary: `Delete a ${kind}-value cache`,
  query: { ...TABLE, name: Type.String() },
});

/** Source: tsdb-http, "Distinct value cache" and "Last value cache". */
export function cacheRoutes(deps: RouteDeps): readonly Route[] {
  const { routeBuilder, caches } = deps;
  const creating = (
    path: string,
    docs: RouteDocs,
    create: (input: ManagementInput) => Promise<CacheDefinition>,
  ): Route =>
    routeBuilder.send('POST', path, { ...CREATED, ...docs }, async (request) =>
      createdResponse(await create(ManagementInput.of(request)), deps),
    );
  const deleting = (path: string, kind: CacheDefinition['kind']): Route =>
    routeBuilder.command('DELETE', path, deletionDocs(kind), (input) =>
      caches.delete({ kind, ...tableOf(input), name: input.requiredText('name') }),
    );
  return [
    creating(LAST, LAST_DOCS, (input) =>
      caches.createLast({
        ...tableOf(input),
        name: input.text('name'),
        keyColumns: input.texts('key_columns'),
        valueColumns: input.texts('value_columns'),
        count: input.integer('count', {
          minimum: 1,
          tooSmall: 'last cache size must be greater than 0',
        }),
        ttlSec: input.integer('ttl', { minimum: 0, tooSmall: '' }),
      }),
    ),
    creating(DISTINCT, DISTINCT_DOCS, (input) =>
      caches.createDistinct({
        ...tableOf(input),
        name: input.text('name'),
        columns: input.requiredTexts('columns'),
        maxCardinality: input.integer('max_cardinality', {
          minimum: 1,
          tooSmall: 'invalid size provided',
        }),
        maxAgeSec: input.integer('max_age', { minimum: 0, tooSmall: '' }),
      }),
    ),
    deleting(LAST, 'last'),
    deleting(DISTINCT, 'distinct'),
  ];
}

/** Responds with the new cache, in the field names of InfluxDB's catalog. */
function createdResponse(
  definition: CacheDefinition,
  { catalog, caches, clock }: RouteDeps,
): HttpResponse {
  const table = catalog.keptTableById(definition.tableId);
  const database = table && catalog.databaseById(table.databaseId);
  const head = {
    database_id: database?.id ?? 0,
    database_name: database?.name ?? '',
    ops: [table === undefined ? {} : operationOf(definition, table)],
  };
  const body = `{"catalog_batch":{"Database":{"time_ns":${clock.nowNs()},${JSON.stringify(head).slice(1)}},"sequence_number":${caches.createdCount}}`;
  return bytesResponse(201, 'application/json', Buffer.from(body));
}

function operationOf(definition: CacheDefinition, table: TableSchema): object {
  const idsOf = (ids: readonly number[]): unknown[] =>
    columnsOf(table, ids).map(({ id, name, kind }) =>
      kind === 'tag' ? { tag: table.seriesKey.indexOf(name) } : { field: [0, id] },
    );
  if (definition.kind === 'distinct') {
    return {
      CreateDistinctCache: {
        table_id: table.id,
        table_name: table.name,
        node_spec: 'all',
        cache_id: definition.id,
        cache_name: definition.name,
        column_ids: idsOf(definition.columnIds),
        max_cardinality: definition.maxCardinality,
        max_age_seconds: definition.maxAgeSec,
        source: { type: 'User' },
      },
    };
  }
  return {
    CreateLastCache: {
      table_id: table.id,
      table: table.name,
      id: definition.id,
      node_spec: 'all',
      name: definition.name,
      key_columns: idsOf(definition.keyColumnIds),
      value_columns:
        definition.valueColumnIds === undefined
          ? 'all_non_key_columns'
          : { explicit: { columns: [...idsOf(definition.valueColumnIds), 'timestamp'] } },
      count: definition.count,
      ttl: definition.ttlSec,
    },
  };
}
