import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import { NS_PER_DAY, NS_PER_SECOND } from '@plinth/tsdb-model/time/calendar.js';
import { systemTable, UINT8, UINT64 } from '../system-table.js';

/**
 * Maximum time span of a newly written file. Compaction does not exceed it, so there is only one
 * level.
 */
export function generationDurationsTable(): VirtualTable {
  return systemTable({ level: UINT8, duration_seconds: UINT64 }, () => [
    { level: 1, duration_seconds: NS_PER_DAY / NS_PER_SECOND },
  ]);
}
