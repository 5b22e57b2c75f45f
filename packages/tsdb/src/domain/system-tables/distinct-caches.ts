import type { VirtualTable } from '../sql/planned-query.js';
import { listOf, systemTable, TEXT, UINT16, UINT64 } from './system-table.js';

/** Distinct-value caches. */
export function distinctCachesTable(): VirtualTable {
  const columns = {
    table: TEXT,
    name: TEXT,
    column_ids: listOf(UINT16),
    column_names: listOf(TEXT),
    max_cardinality: UINT64,
    max_age_seconds: UINT64,
  };
  return systemTable(columns, () => []);
}
