import type { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { BOOLEAN, nanosOfMs, systemTable, TEXT, TIME_SEC_UTC, UINT64 } from '../system-table.js';
import type { CacheList } from './last-caches.js';

/** All visible tables of all databases, deleted ones last. */
export function tablesTable(catalog: Catalog, view: CatalogView, caches: CacheList): VirtualTable {
  const columns = {
    database_name: TEXT,
    table_name: TEXT,
    column_count: UINT64,
    series_key_columns: TEXT,
    last_cache_count: UINT64,
    distinct_cache_count: UINT64,
    deleted: BOOLEAN,
    hard_deletion_time: TIME_SEC_UTC,
  };
  const row = (databaseName: string, table: TableSchema, hardDeleteMs?: number) => ({
    database_name: databaseName,
    table_name: table.name,
    column_count: table.columns.size,
    series_key_columns: table.seriesKey.join(', '),
    last_cache_count: caches.countOf(table.id, 'last'),
    distinct_cache_count: caches.countOf(table.id, 'distinct'),
    hard_deletion_time: nanosOfMs(hardDeleteMs),
  });
  return systemTable(columns, () => [
    ...view.databases().flatMap((database) =>
      [...database.tables.values()].map((table) => ({
        ...row(database.name, table),
        deleted: false,
      })),
    ),
    ...catalog.deleted.tables().flatMap((table) => {
      const { schema } = table.entry;
      const deleted = catalog.deleted.databaseById(schema.databaseId);
      const database = catalog.databaseById(schema.databaseId) ?? deleted?.schema;
      if (database === undefined) return [];
      if (!view.access.mayRead(deleted?.originalName ?? database.name)) return [];
      const hardDeleteMs = catalog.deleted.hardDeleteMsOf(table);
      return [{ ...row(database.name, schema, hardDeleteMs), deleted: true }];
    }),
  ]);
}
