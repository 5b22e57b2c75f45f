import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { ProcessingEngine } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import { INT64, systemTable, TEXT } from '../system-table.js';

/** Plugin files; `last_modified` is in milliseconds since 1970. */
export function pluginFilesTable(processing: ProcessingEngine | undefined): VirtualTable {
  const columns = {
    plugin_name: TEXT,
    file_name: TEXT,
    file_path: TEXT,
    size_bytes: INT64,
    last_modified: INT64,
  };
  return systemTable(columns, () =>
    (processing?.triggers.of() ?? []).flatMap((trigger) =>
      (processing?.plugins.filesOf(trigger.pluginFilename) ?? []).map((file) => ({
        plugin_name: trigger.name,
        file_name: file.name,
        file_path: file.path,
        size_bytes: BigInt(file.sizeBytes),
        last_modified: BigInt(file.modifiedMs),
      })),
    ),
  );
}
