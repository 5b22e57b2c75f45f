import type { VirtualTable } from '../sql/planned-query.js';
import { systemTable, TEXT } from './system-table.js';

/** One row per argument of a trigger. */
export function processingEngineTriggerArgumentsTable(): VirtualTable {
  const columns = { trigger_name: TEXT, argument_key: TEXT, argument_value: TEXT };
  return systemTable(columns, () => []);
}
