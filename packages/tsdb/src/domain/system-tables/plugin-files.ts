import type { VirtualTable } from '../sql/planned-query.js';
import { INT64, systemTable, TEXT } from './system-table.js';

/** Files of plugins; `last_modified` is in milliseconds since 1970. */
export function pluginFilesTable(): VirtualTable {
  const columns = {
    plugin_name: TEXT,
    file_name: TEXT,
    file_path: TEXT,
    size_bytes: INT64,
    last_modified: INT64,
  };
  return systemTable(columns, () => []);
}
