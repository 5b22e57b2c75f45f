import type { VirtualTable } from '../sql/planned-query.js';
import { listOf, systemTable, TEXT, UINT16, UINT64 } from './system-table.js';

/** Last-value caches; `value_column_*` NULL stands for all columns, `ttl` is in seconds. */
export function lastCachesTable(): VirtualTable {
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
  return systemTable(columns, () => []);
}
