import type { CatalogView } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import { BOOLEAN, nanosOfMs, systemTable, TEXT, TIME_SEC_UTC, UINT64 } from '../system-table.js';

/**
 * The visible databases of the node, deleted ones last. A NULL retention period keeps rows forever.
 */
export function databasesTable(catalog: CatalogView): VirtualTable {
  const columns = {
    database_name: TEXT,
    retention_period_ns: UINT64,
    deleted: BOOLEAN,
    hard_deletion_time: TIME_SEC_UTC,
  };
  return systemTable(columns, () => [
    ...catalog.databases().map((database) => ({
      database_name: database.name,
      retention_period_ns: database.retentionNs,
      deleted: false,
      hard_deletion_time: undefined,
    })),
    ...catalog.deletedDatabases().map(({ schema, hardDeleteMs }) => ({
      database_name: schema.name,
      retention_period_ns: schema.retentionNs,
      deleted: true,
      hard_deletion_time: nanosOfMs(hardDeleteMs),
    })),
  ]);
}
