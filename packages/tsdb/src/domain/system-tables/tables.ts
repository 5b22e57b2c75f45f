import type { Catalog } from '../catalog/catalog.js';
import type { VirtualTable } from '../sql/planned-query.js';
import { BOOLEAN, systemTable, TEXT, TIME_SEC_UTC, UINT64 } from './system-table.js';

/** Every table of every database. */
export function tablesTable(catalog: Catalog): VirtualTable {
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
  return systemTable(columns, () =>
    catalog.databases().flatMap((database) =>
      [...database.tables.values()].map((table) => ({
        database_name: database.name,
        table_name: table.name,
        column_count: table.columns.size,
        series_key_columns: table.seriesKey.join(', '),
        last_cache_count: 0,
        distinct_cache_count: 0,
        deleted: false,
        hard_deletion_time: undefined,
      })),
    ),
  );
}
