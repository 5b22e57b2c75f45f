import { quoteText } from '../lib/query/identifiers.js';
import { send, sendForJson } from './client.js';
import { queryRows } from './tsdb.js';

/** A last value or distinct value cache, as listed in its system table. */
export interface Cache {
  readonly kind: 'last' | 'distinct';
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  /** The maximum number of values per series, or of distinct values. */
  readonly count: number;
  /** Values older than this, in seconds, are evicted. */
  readonly ageSec: number;
}

export interface Trigger {
  readonly trigger_name: string;
  readonly plugin_filename: string;
  /** A string with JSON text. */
  readonly trigger_specification: string;
  readonly disabled: boolean;
  readonly error_behavior: string;
}

/** A continuous query or rollup. */
export interface ContinuousQuery {
  readonly name: string;
  readonly language: 'influxql' | 'sql';
  readonly query: string;
  readonly target: string;
  readonly run_every: string;
  readonly run_for: string | null;
  readonly last_run: string | null;
  readonly last_error: string | null;
  readonly rows_written: number;
}

/** The activity of a trigger in the last hour, according to its log. */
export interface TriggerActivity {
  readonly trigger_name: string;
  readonly last_success: string | null;
  readonly last_error: string | null;
  readonly error_count: number;
  readonly run_count: number;
  /** The time and text of the line that ends with the duration of the last successful run. */
  readonly last_end: string | null;
}

export interface PluginCode {
  readonly path: string;
  readonly content: string;
  readonly sha256: string;
  /** Paths of all files, if the plugin is a folder. */
  readonly files: readonly string[];
}

/** The result of a run that stores nothing. */
export interface DryRun {
  /** The scheduled time; only for scheduled triggers. */
  readonly trigger_time?: string | null;
  readonly log_lines: readonly string[];
  /** Line protocol by database. */
  readonly database_writes: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly string[];
}

export interface LogLine {
  readonly event_time: string;
  readonly trigger_name: string;
  readonly log_level: string;
  readonly log_text: string;
}

const CONFIGURE = '/api/v3/configure';
const TRIGGER = `${CONFIGURE}/processing_engine_trigger`;
/** The number of log lines that are shown. */
export const MAX_LOG_LINES = 200;

const literal = (text: string): string => quoteText(text, 'sql');

export async function fetchCaches(db: string): Promise<readonly Cache[]> {
  const [last, distinct] = await Promise.all([
    queryRows<{
      table: string;
      name: string;
      key_column_names: string[];
      count: number;
      ttl: number;
    }>({ db, lang: 'sql', text: 'SELECT * FROM system.last_caches' }),
    queryRows<{
      table: string;
      name: string;
      column_names: string[];
      max_cardinality: number;
      max_age_seconds: number;
    }>({ db, lang: 'sql', text: 'SELECT * FROM system.distinct_caches' }),
  ]);
  return [
    ...last.map(({ table, name, key_column_names, count, ttl }) => ({
      ...{ kind: 'last' as const, table, name, columns: key_column_names, count, ageSec: ttl },
    })),
    ...distinct.map(({ table, name, column_names, max_cardinality, max_age_seconds }) => ({
      ...{ kind: 'distinct' as const, table, name, columns: column_names },
      ...{ count: max_cardinality, ageSec: max_age_seconds },
    })),
  ].sort((a, b) => `${a.table} ${a.name}`.localeCompare(`${b.table} ${b.name}`));
}

/** Creates a cache. The server chooses defaults for absent fields. */
export const createCache = (cache: {
  readonly kind: Cache['kind'];
  readonly db: string;
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly count: number | undefined;
  readonly ageSec: number | undefined;
}): Promise<unknown> => {
  const { kind, db, table, name, columns, count, ageSec } = cache;
  const isLast = kind === 'last';
  return send(`${CONFIGURE}/${kind}_cache`, {
    body: {
      db,
      table,
      ...(name !== '' && { name }),
      ...(columns.length > 0 && { [isLast ? 'key_columns' : 'columns']: columns }),
      ...(count !== undefined && { [isLast ? 'count' : 'max_cardinality']: count }),
      ...(ageSec !== undefined && { [isLast ? 'ttl' : 'max_age']: ageSec }),
    },
  });
};

export const deleteCache = (
  db: string,
  { kind, table, name }: Pick<Cache, 'kind' | 'table' | 'name'>,
): Promise<unknown> =>
  send(`${CONFIGURE}/${kind}_cache`, { method: 'DELETE', query: { db, table, name } });

/** Returns a query that returns the contents of a cache. */
export const cacheQuery = ({ kind, table, name }: Cache): string =>
  `SELECT * FROM ${kind}_cache(${literal(table)}, ${literal(name)})`;

export const fetchTriggers = (db: string): Promise<readonly Trigger[]> =>
  queryRows({
    db,
    lang: 'sql',
    text: 'SELECT * FROM system.processing_engine_triggers ORDER BY trigger_name',
  });

/** @param name of one trigger; empty for all. */
export const logQuery = (name: string, limit: number): string =>
  'SELECT * FROM system.processing_engine_logs' +
  `${name === '' ? '' : ` WHERE trigger_name = ${literal(name)}`} ORDER BY event_time DESC LIMIT ${limit}`;

/** Fetches the last log lines of triggers, newest first. @param name of one trigger; empty for all. */
export const fetchTriggerLog = (db: string, name: string): Promise<readonly LogLine[]> =>
  queryRows({ db, lang: 'sql', text: logQuery(name, MAX_LOG_LINES) });

export const fetchTriggerActivity = (db: string): Promise<readonly TriggerActivity[]> =>
  queryRows({
    ...{ db, lang: 'sql' },
    text: `SELECT trigger_name,
  max(CASE WHEN log_text LIKE 'finished execution in %' THEN event_time END) AS last_success,
  max(CASE WHEN log_level = 'ERROR' THEN event_time END) AS last_error,
  sum(CASE WHEN log_level = 'ERROR' THEN 1 ELSE 0 END) AS error_count,
  sum(CASE WHEN log_text LIKE 'starting execution %' THEN 1 ELSE 0 END) AS run_count,
  max(CASE WHEN log_text LIKE 'finished execution in %'
    THEN CAST(event_time AS VARCHAR) || ' ' || log_text END) AS last_end
FROM system.processing_engine_logs
WHERE event_time >= now() - INTERVAL '1 hour' GROUP BY trigger_name`,
  });

export const fetchTriggerArguments = async (
  db: string,
  name: string,
): Promise<Readonly<Record<string, string>>> => {
  const rows = await queryRows<{ argument_key: string; argument_value: string }>({
    ...{ db, lang: 'sql' },
    text: `SELECT argument_key, argument_value FROM system.processing_engine_trigger_arguments WHERE trigger_name = ${literal(name)} ORDER BY argument_key`,
  });
  return Object.fromEntries(rows.map((row) => [row.argument_key, row.argument_value]));
};

/** @param path of a plugin, or of a file in its folder. */
export const fetchPluginCode = (path: string): Promise<PluginCode> =>
  sendForJson('/ops/v1/tsdb/plugin-files', { query: { path } });

/** Creates or replaces a file of the plugin folder. */
export const savePluginCode = (path: string, content: string): Promise<unknown> =>
  send('/api/v3/plugins/files', { body: { plugin_name: path, content } });

/** Runs code with sample input. Nothing is stored. */
export const dryRun = (
  kind: 'wal' | 'schedule',
  dryRunRequest: {
    readonly db: string;
    readonly path: string;
    /** Runs instead of the stored code. */
    readonly code: string | undefined;
    readonly args: Readonly<Record<string, string>>;
    /** Line protocol, or a cron expression. */
    readonly input: string;
  },
): Promise<DryRun> => {
  const { db, path, code, args, input } = dryRunRequest;
  return sendForJson(`/api/v3/plugin_test/${kind}`, {
    body: {
      ...{ filename: path, database: db, code },
      ...(kind === 'wal' ? { input_lp: input } : { schedule: input }),
      ...(Object.keys(args).length > 0 && { input_arguments: args }),
    },
  });
};

export const createTrigger = (trigger: {
  readonly db: string;
  readonly name: string;
  readonly plugin: string;
  readonly specification: string;
  readonly args: Readonly<Record<string, string>>;
  readonly errorBehavior: string;
  readonly isDisabled: boolean;
}): Promise<unknown> => {
  const { db, name, plugin, specification, args, errorBehavior, isDisabled } = trigger;
  return send(TRIGGER, {
    body: {
      db,
      trigger_name: name,
      plugin_filename: plugin,
      trigger_specification: specification,
      trigger_settings: { run_async: false, error_behavior: errorBehavior },
      ...(Object.keys(args).length > 0 && { trigger_arguments: args }),
      disabled: isDisabled,
    },
  });
};

export const switchTrigger = (db: string, name: string, isOn: boolean): Promise<unknown> =>
  send(`${TRIGGER}/${isOn ? 'enable' : 'disable'}`, {
    method: 'POST',
    query: { db, trigger_name: name },
  });

/** Deletes the trigger, and cancels its run if one is in progress. */
export const deleteTrigger = (db: string, name: string): Promise<unknown> =>
  send(TRIGGER, { method: 'DELETE', query: { db, trigger_name: name, force: true } });

export const fetchContinuousQueries = (db: string): Promise<readonly ContinuousQuery[]> =>
  queryRows<ContinuousQuery>({
    ...{ db, lang: 'sql' },
    text: 'SELECT name, language, query, target, run_every, run_for, last_run, last_error, rows_written FROM system.continuous_queries ORDER BY name',
  });

export const deleteContinuousQuery = (db: string, name: string): Promise<unknown> =>
  send(`${CONFIGURE}/rollup?${new URLSearchParams({ db, rollup_name: name })}`, {
    method: 'DELETE',
  });
