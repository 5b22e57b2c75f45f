import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { ProcessingEngine } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import { systemTable, TEXT } from '../system-table.js';

/** One row per argument of a trigger. */
export function processingEngineTriggerArgumentsTable(
  processing: ProcessingEngine | undefined,
  database: DatabaseSchema,
): VirtualTable {
  const columns = { trigger_name: TEXT, argument_key: TEXT, argument_value: TEXT };
  return systemTable(columns, () =>
    (processing?.triggers.of(database.id) ?? []).flatMap((trigger) =>
      [...(trigger.arguments ?? [])].map(([key, value]) => ({
        trigger_name: trigger.name,
        argument_key: key,
        argument_value: value,
      })),
    ),
  );
}
