import { CronSchedule } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PluginType, TriggerSpecification } from '@plinth/tsdb-model/plugins/trigger.js';
import { formatDuration, parseDuration } from '@plinth/tsdb-model/time/duration.js';
import { tableSpecification } from '../../storage/plugins/trigger-store.js';

const FORMS =
  "expect one of the following forms: 'table:<TABLE_NAME>', 'all_tables', 'cron:<CRON_EXPRESSION>', 'every:<DURATION>', or 'request:<PATH>'";

const LONGEST_INTERVAL_NS = 31_557_600_000_000_000n;
/** Minimum interval; shorter intervals would run without a pause. */
const SHORTEST_INTERVAL_NS = 100_000_000n;

/** Throws `trigger_specification_invalid`. Source: processing-engine, "Trigger specification grammar". */
export function parseTriggerSpecification(text: string): TriggerSpecification {
  const trimmed = text.trim();
  const fail = (context?: string): never => {
    throw tsdbError('trigger_specification_invalid', { specification: text, context });
  };
  if (trimmed === 'all_tables') return { kind: 'all_tables' };
  const colon = trimmed.indexOf(':');
  const value = trimmed.slice(colon + 1).trim();
  switch (colon < 0 ? undefined : trimmed.slice(0, colon)) {
    case 'table':
      return value === '' ? fail('table name is empty') : { kind: 'table', table: value };
    case 'cron':
      return readCron(value, fail);
    case 'every':
      return readInterval(value, fail);
    case 'request':
      return value === '' ? fail() : { kind: 'request', path: value };
    default:
      return fail(FORMS);
  }
}

/**
 * Returns the plugin type that the first word of a specification selects; `undefined` if unknown.
 */
export function typeOfText(text: string): PluginType | undefined {
  const [word = ''] = text.trim().split(':', 1);
  return TYPE_OF_WORD.get(word);
}

const TYPE_OF_WORD: ReadonlyMap<string, PluginType> = new Map([
  ['all_tables', 'WalRows'],
  ['table', 'WalRows'],
  ['cron', 'Schedule'],
  ['every', 'Schedule'],
  ['request', 'Request'],
]);

function readCron(expression: string, fail: (context?: string) => never): TriggerSpecification {
  const fault = CronSchedule.faultOf(expression);
  return fault === undefined ? { kind: 'cron', expression } : fail(fault);
}

function readInterval(text: string, fail: (context?: string) => never): TriggerSpecification {
  const intervalNs = parseDuration(text);
  if (intervalNs === undefined || intervalNs < SHORTEST_INTERVAL_NS) {
    return fail("couldn't parse to duration");
  }
  if (intervalNs > LONGEST_INTERVAL_NS) {
    return fail("don't support every schedules of over 1 year");
  }
  return { kind: 'every', intervalNs };
}

/** Returns the form in which a specification is stored and shown by the CLI. */
export function canonicalText(specification: TriggerSpecification): string {
  switch (specification.kind) {
    case 'all_tables':
      return 'all_tables';
    case 'table':
      return tableSpecification(specification.table);
    case 'cron':
      return `cron:${specification.expression}`;
    case 'every':
      return `every:${formatDuration(specification.intervalNs)}`;
    case 'request':
      return `request:${specification.path}`;
  }
}

/**
 * Returns the value in `system.processing_engine_triggers`. Source: processing-engine, "System
 * tables and log lines".
 */
export function specificationJson(specification: TriggerSpecification): string {
  switch (specification.kind) {
    case 'all_tables':
      return '"all_tables_wal_write"';
    case 'table':
      return JSON.stringify({ single_table_wal_write: { table_name: specification.table } });
    case 'cron':
      return JSON.stringify({ schedule: { schedule: specification.expression } });
    case 'every': {
      const secs = Number(specification.intervalNs / 1_000_000_000n);
      const nanos = Number(specification.intervalNs % 1_000_000_000n);
      return JSON.stringify({ every: { duration: { secs, nanos } } });
    }
    case 'request':
      return JSON.stringify({ request_path: { path: specification.path } });
  }
}
