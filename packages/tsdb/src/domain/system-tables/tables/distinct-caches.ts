import { columnsOf } from '@plinth/tsdb-caches/cache-definitions.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { listOf, systemTable, TEXT, UINT16, UINT64 } from '../system-table.js';
import type { CacheList } from './last-caches.js';

export function distinctCachesTable(database: DatabaseSchema, caches: CacheList): VirtualTable {
  const columns = {
    table: TEXT,
    name: TEXT,
    column_ids: listOf(UINT16),
    column_names: listOf(TEXT),
    max_cardinality: UINT64,
    max_age_seconds: UINT64,
  };
  return systemTable(columns, () =>
    caches.definitions(database, 'distinct').map(({ table, definition }) => {
      const cached = columnsOf(table, definition.columnIds);
      return {
        table: table.name,
        name: definition.name,
        column_ids: cached.map(({ id }) => id),
        column_names: cached.map(({ name }) => name),
        max_cardinality: definition.maxCardinality,
        max_age_seconds: definition.maxAgeSec,
      };
    }),
  );
}
