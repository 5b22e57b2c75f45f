import type { VirtualTable } from '../sql/planned-query.js';
import { systemTable, TEXT, TIME_NS } from './system-table.js';

/** What plugins logged. */
export function processingEngineLogsTable(): VirtualTable {
  const columns = { event_time: TIME_NS, trigger_name: TEXT, log_level: TEXT, log_text: TEXT };
  return systemTable(columns, () => []);
}
