import type { VirtualTable } from '../sql/planned-query.js';
import { BOOLEAN, systemTable, TEXT } from './system-table.js';

/** Triggers of a database; `trigger_specification` is JSON text. */
export function processingEngineTriggersTable(): VirtualTable {
  const columns = {
    trigger_name: TEXT,
    plugin_filename: TEXT,
    trigger_specification: TEXT,
    disabled: BOOLEAN,
    error_behavior: TEXT,
  };
  return systemTable(columns, () => []);
}
