import { INTERNAL_DATABASE } from '@plinth/tsdb-model/database/names.js';
import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { ProcessingEngine } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import { systemTable, TEXT, TIME_NS } from '../system-table.js';

/** Log lines of plugins that the database's triggers run; in the internal database, those of all triggers. */
export function processingEngineLogsTable(
  processing: ProcessingEngine | undefined,
  database: DatabaseSchema,
): VirtualTable {
  const columns = { event_time: TIME_NS, trigger_name: TEXT, log_level: TEXT, log_text: TEXT };
  const rows = systemTable(columns, () =>
    (
      processing?.runLog.entries(database.name === INTERNAL_DATABASE ? undefined : database.id) ??
      []
    ).map((entry) => ({
      event_time: entry.timeNs,
      trigger_name: entry.triggerName,
      log_level: entry.level,
      log_text: entry.text,
    })),
  );
  // Later versions of InfluxDB call the column `time`.
  return { ...rows, otherNames: new Map([['time', 'event_time']]) };
}
