import type { ErrorBehavior, Trigger } from '@plinth/tsdb-model/plugins/trigger.js';
import type { TriggerRecord } from '../../storage/plugins/trigger-store.js';
import { canonicalText, parseTriggerSpecification } from './trigger-specification.js';

/** A trigger as requested by a client; only its form is validated. */
export interface NewTrigger {
  readonly database: string;
  readonly name: string;
  readonly pluginFilename: string;
  readonly specification: string;
  readonly runAsync: boolean;
  readonly errorBehavior: ErrorBehavior;
  readonly arguments: ReadonlyMap<string, string> | undefined;
  readonly isDisabled: boolean;
}

/** Throws `trigger_specification_invalid`. */
export function recordOf(newTrigger: NewTrigger, databaseId: number): Omit<TriggerRecord, 'id'> {
  const specification = parseTriggerSpecification(newTrigger.specification);
  return {
    database_id: databaseId,
    name: newTrigger.name,
    plugin_filename: newTrigger.pluginFilename,
    specification: canonicalText(specification),
    run_async: newTrigger.runAsync ? 1 : 0,
    error_behavior: newTrigger.errorBehavior,
    arguments:
      newTrigger.arguments === undefined
        ? null
        : JSON.stringify([...newTrigger.arguments.entries()]),
    disabled: newTrigger.isDisabled ? 1 : 0,
  };
}

export function triggerOf(record: TriggerRecord): Trigger {
  return {
    id: record.id,
    databaseId: record.database_id,
    name: record.name,
    pluginFilename: record.plugin_filename,
    specification: parseTriggerSpecification(record.specification),
    runAsync: record.run_async === 1,
    errorBehavior: record.error_behavior,
    arguments:
      record.arguments === null
        ? undefined
        : new Map(JSON.parse(record.arguments) as [string, string][]), // written by `recordOf`
    isDisabled: record.disabled === 1,
  };
}
