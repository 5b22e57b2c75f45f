import { columnsOf } from '@plinth/tsdb-caches/cache-definitions.js';
import type { Caches } from '@plinth/tsdb-caches/caches.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { listOf, systemTable, TEXT, UINT16, UINT64 } from '../system-table.js';

export type CacheList = Pick<Caches, 'definitions' | 'countOf' | 'tableFunction'>;

/** Last-value caches. NULL in `value_column_*` means all columns; `ttl` is in seconds. */
export function lastCachesTable(database: DatabaseSchema, caches: CacheList): VirtualTable {
  const columns = {
    table: TEXT,
    name: TEXT,
    key_column_ids: listOf(UINT16),
    key_column_names: listOf(TEXT),
    value_column_ids: listOf(UINT16),
    value_column_names: listOf(TEXT),
    count: UINT64,
    ttl: UINT64,
  };
  return systemTable(columns, () =>
    caches.definitions(database, 'last').map(({ table, definition }) => {
      const keys = columnsOf(table, definition.keyColumnIds);
      const values =
        definition.valueColumnIds &&
        columnsOf(table, [...definition.valueColumnIds, ...timeIds(table)]);
      return {
        table: table.name,
        name: definition.name,
        key_column_ids: keys.map(({ id }) => id),
        key_column_names: keys.map(({ name }) => name),
        value_column_ids: values?.map(({ id }) => id),
        value_column_names: values?.map(({ name }) => name),
        count: definition.count,
        ttl: definition.ttlSec,
      };
    }),
  );
}

/** `time` is always the last value column. */
function timeIds(table: TableSchema): number[] {
  const time = table.columns.get('time');
  return time === undefined ? [] : [time.id];
}
