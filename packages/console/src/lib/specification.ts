import { durationText } from './units.js';

/** A trigger specification (JSON) as readable text. An unknown form is returned unchanged. */
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
