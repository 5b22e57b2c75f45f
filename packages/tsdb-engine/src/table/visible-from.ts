import { MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';

/**
 * Returns the earliest visible timestamp: earlier rows are outside the retention period. The period
 * of the table takes precedence over the period of its database. Every code path that reads rows
 * must apply it.
 */
export function visibleFrom(
  database: Pick<DatabaseSchema, 'retentionNs'>,
  table: Pick<TableSchema, 'retentionNs'>,
  nowNs: bigint,
): bigint {
  const retentionNs = table.retentionNs ?? database.retentionNs;
  if (retentionNs === undefined) return MIN_TIME_NS;
  const fromNs = nowNs - retentionNs;
  return fromNs > MIN_TIME_NS ? fromNs : MIN_TIME_NS;
}
