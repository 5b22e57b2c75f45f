import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CacheDefinition } from '../../domain/caches/cache-definitions.js';
import { columnsOf } from '../../domain/caches/cache-definitions.js';
import type { TableSchema } from '../../model/schema.js';
import type { RouteDeps } from '../deps.js';
import { managementErrors, sendDone } from './database-routes.js';
import { ManagementInput } from './management-input.js';

const LAST = '/api/v3/configure/last_cache';
const DISTINCT = '/api/v3/configure/distinct_cache';

/** Source: tsdb-http, "Distinct value cache" and "Last value cache". */
export function registerCacheRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const { caches } = deps;
  const errorHandler = managementErrors(deps);
  app.post(LAST, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.of(request);
    const definition = await caches.createLast({
      ...tableOf(input),
      name: input.text('name'),
      keyColumns: input.texts('key_columns'),
      valueColumns: input.texts('value_columns'),
      count: input.integer('count', {
        minimum: 1,
        tooSmall: 'last cache size must be greater than 0',
      }),
      ttlSec: input.integer('ttl', { minimum: 0, tooSmall: '' }),
    });
    return sendCreated(definition, deps, reply);
  });
  app.post(DISTINCT, { errorHandler }, async (request, reply) => {
    const input = ManagementInput.of(request);
    const definition = await caches.createDistinct({
      ...tableOf(input),
      name: input.text('name'),
      columns: input.requiredTexts('columns'),
      maxCardinality: input.integer('max_cardinality', {
        minimum: 1,
        tooSmall: 'invalid size provided',
      }),
      maxAgeSec: input.integer('max_age', { minimum: 0, tooSmall: '' }),
    });
    return sendCreated(definition, deps, reply);
  });
  for (const [path, kind] of [
    [LAST, 'last'],
    [DISTINCT, 'distinct'],
  ] as const) {
    app.delete(path, { errorHandler }, async (request, reply) => {
      const input = ManagementInput.of(request);
      await caches.delete({ kind, ...tableOf(input), name: input.requiredText('name') });
      return sendDone(reply);
    });
  }
}

function tableOf(input: ManagementInput): { readonly database: string; readonly table: string } {
  return { database: input.requiredText('db'), table: input.requiredText('table') };
}

/** What was made, in the words of the real system's catalog. */
function sendCreated(
  definition: CacheDefinition,
  { catalog, caches, clock }: RouteDeps,
  reply: FastifyReply,
): FastifyReply {
  const table = catalog.keptTableById(definition.tableId);
  const database = table && catalog.databaseById(table.databaseId);
  const head = {
    database_id: database?.id ?? 0,
    database_name: database?.name ?? '',
    ops: [table === undefined ? {} : operationOf(definition, table)],
  };
  const body = `{"catalog_batch":{"Database":{"time_ns":${clock.nowNs()},${JSON.stringify(head).slice(1)}},"sequence_number":${caches.createdCount}}`;
  return reply.code(201).header('content-type', 'application/json').send(Buffer.from(body));
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
