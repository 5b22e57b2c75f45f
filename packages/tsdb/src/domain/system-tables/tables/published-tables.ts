import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import { listPublished } from '@plinth/tsdb-open-tables/list-published.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import { INT64, nanosOfMs, systemTable, TEXT, TIME_MS, UINT64 } from '../system-table.js';

/** The tables of a database in an open format, once for each namespace; empty if it is not published. */
export function publishedTablesTable(
  database: DatabaseSchema,
  openTables: OpenTables | undefined,
): VirtualTable {
  const columns = {
    table_name: TEXT,
    namespace: TEXT,
    format_version: INT64,
    state: TEXT,
    reason: TEXT,
    version: INT64,
    published_time: TIME_MS,
    fresh_through: TEXT,
    merged_through: TEXT,
    file_count: UINT64,
    row_count: UINT64,
    size_bytes: UINT64,
    absent_columns: TEXT,
    location: TEXT,
  };
  return systemTable(columns, () =>
    openTables?.isPublished(database.name) !== true
      ? []
      : listPublished(openTables, database).map(({ newest, ...listed }) => ({
          table_name: listed.table,
          namespace: listed.namespace,
          format_version: BigInt(listed.formatVersion),
          state: listed.state,
          reason: listed.reason,
          version: newest && BigInt(newest.version),
          published_time: nanosOfMs(newest?.publishedMs),
          fresh_through: newest?.freshThrough,
          merged_through: newest?.mergedThrough,
          file_count: newest?.fileCount,
          row_count: newest?.rowCount,
          size_bytes: newest?.sizeBytes,
          absent_columns: listed.absentColumns.join(', '),
          location: listed.location,
        })),
  );
}
