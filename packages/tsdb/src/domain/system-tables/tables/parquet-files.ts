import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { SegmentsOf } from '@plinth/tsdb-model/segment.js';
import { INT64, systemTable, TEXT, UINT64 } from '../system-table.js';

/**
 * The segments of a database. `path` is the name below the object store. Rows in memory have no
 * file yet.
 */
export function parquetFilesTable(database: DatabaseSchema, segmentsOf: SegmentsOf): VirtualTable {
  const columns = {
    table_name: TEXT,
    path: TEXT,
    size_bytes: UINT64,
    row_count: UINT64,
    min_time: INT64,
    max_time: INT64,
  };
  return systemTable(columns, () =>
    [...database.tables.values()].flatMap((table) =>
      segmentsOf(table.id).map((segment) => ({
        table_name: table.name,
        path: segment.objectName,
        size_bytes: segment.sizeBytes,
        row_count: segment.rowCount,
        min_time: segment.minTime,
        max_time: segment.maxTime,
      })),
    ),
  );
}
