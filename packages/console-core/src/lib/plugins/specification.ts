import { durationText } from '../units.js';

/** Formats a trigger specification (JSON) as readable text. An unknown form is returned unchanged. */
export function specificationText(json: string): string {
  let read: unknown;
  try {
    read = JSON.parse(json);
  } catch {
    return json;
  }
  if (read === 'all_tables_wal_write') return 'on writes to any table';
  const [[kind, value] = ['', {}]] = Object.entries(Object(read) as Record<string, unknown>);
  const of = Object(value) as Readonly<Record<string, unknown>>;
  switch (kind) {
    case 'all_tables_wal_write':
      return 'on writes to any table';
    case 'single_table_wal_write':
      return `on writes to ${String(of['table_name'])}`;
    case 'schedule':
      return `cron: ${String(of['schedule'])}`;
    case 'request_path':
      return `on requests to /api/v3/engine/${String(of['path'])}`;
    case 'every': {
      const { secs = 0, nanos = 0 } = Object(of['duration']) as { secs?: number; nanos?: number };
      return `every ${nanos === 0 ? durationText(secs) : `${secs + nanos / 1e9} s`}`;
    }
    default:
      return json;
  }
}

/** The input that a trigger gives to its plugin. */
export type TriggerInput =
  | { readonly kind: 'wal'; readonly table: string | undefined }
  | { readonly kind: 'schedule'; readonly cron: string }
  | { readonly kind: 'request'; readonly path: string };

const EVERY_SECOND = '* * * * * *';

/** Reads the kind of a trigger from its specification (JSON). */
export function triggerInput(json: string): TriggerInput {
  const of = (name: string, field: string): string | undefined => {
    const value = Object(Object(parsed(json))[name])[field] as unknown;
    return value === undefined ? undefined : String(value);
  };
  const path = of('request_path', 'path');
  if (path !== undefined) return { kind: 'request', path };
  const cron = of('schedule', 'schedule') ?? (of('every', 'duration') && EVERY_SECOND);
  if (cron !== undefined) return { kind: 'schedule', cron };
  return { kind: 'wal', table: of('single_table_wal_write', 'table_name') };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Returns the code of a new plugin for a specification such as `every:1h`. */
export function pluginTemplate(specification: string): string {
  if (/^(?:every|cron):/.test(specification)) {
    return `def process_scheduled_call(influxdb3_local, call_time, args=None):
    rows = influxdb3_local.query("SHOW TABLES")
    influxdb3_local.info(f"{len(rows)} tables at {call_time}")
`;
  }
  if (specification.startsWith('request:')) {
    return `def process_request(influxdb3_local, query_parameters, request_headers, request_body, args=None):
    influxdb3_local.info("request received")
    return {"parameters": query_parameters}
`;
  }
  return `def process_writes(influxdb3_local, table_batches, args=None):
    for batch in table_batches:
        influxdb3_local.info(f"{batch['table_name']}: {len(batch['rows'])} rows")
`;
}

/** Parses `a=1, b=2` as plugin arguments; `undefined` for another form. */
export function parseArguments(text: string): Readonly<Record<string, string>> | undefined {
  const args: Record<string, string> = {};
  for (const part of text.split(/[,\n]/)) {
    if (part.trim() === '') continue;
    const [, key = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    if (key === '') return undefined;
    args[key] = value;
  }
  return args;
}
