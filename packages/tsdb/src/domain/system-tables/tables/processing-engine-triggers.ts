import type { VirtualTable } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema } from '@plinth/tsdb-model/schema.js';
import type { ProcessingEngine } from '@plinth/tsdb-plugins/domain/processing-engine.js';
import { specificationJson } from '@plinth/tsdb-plugins/domain/triggers/trigger-specification.js';
import { BOOLEAN, systemTable, TEXT } from '../system-table.js';

/** Triggers of a database; `trigger_specification` is JSON text. */
export function processingEngineTriggersTable(
  processing: ProcessingEngine | undefined,
  database: DatabaseSchema,
): VirtualTable {
  const columns = {
    trigger_name: TEXT,
    plugin_filename: TEXT,
    trigger_specification: TEXT,
    disabled: BOOLEAN,
    error_behavior: TEXT,
  };
  return systemTable(columns, () =>
    (processing?.triggers.of(database.id) ?? []).map((trigger) => ({
      trigger_name: trigger.name,
      plugin_filename: trigger.pluginFilename,
      trigger_specification: specificationJson(trigger.specification),
      disabled: trigger.isDisabled,
      error_behavior: trigger.errorBehavior,
    })),
  );
}

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
