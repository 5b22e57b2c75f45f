import type { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import { BOOLEAN, DURATION, INT64, systemTable, TEXT, TIME_NS } from '../system-table.js';

/**
 * Recent queries of the server in all databases. Administrators see all of them; others see only
 * their own.
 */
export function queriesTable(log: QueryLog, access: DatabaseAccess): VirtualTable {
  const columns = {
    id: TEXT,
    phase: TEXT,
    issue_time: TIME_NS,
    query_type: TEXT,
    query_text: TEXT,
    partitions: INT64,
    parquet_files: INT64,
    plan_duration: DURATION,
    permit_duration: DURATION,
    execute_duration: DURATION,
    end2end_duration: DURATION,
    compute_duration: DURATION,
    max_memory: INT64,
    success: BOOLEAN,
    running: BOOLEAN,
    cancelled: BOOLEAN,
    trace_id: TEXT,
  };
  return systemTable(columns, () =>
    log.entriesFor(access).map((query) => ({
      id: query.properties.id,
      phase: query.phase,
      issue_time: query.properties.issueNs,
      query_type: query.properties.language,
      query_text: query.properties.text,
      partitions: query.partitionCount,
      parquet_files: query.fileCount,
      plan_duration: query.planNs,
      permit_duration: query.permitNs,
      execute_duration: query.executeNs,
      end2end_duration: query.endToEndNs,
      compute_duration: query.computeNs,
      // DuckDB does not report memory per query, and requests have no trace id.
      max_memory: undefined,
      success: query.phase === 'success',
      running: query.isRunning,
      cancelled: query.phase === 'cancel',
      trace_id: undefined,
    })),
  );
}
