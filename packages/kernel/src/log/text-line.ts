/** Values that need no quotes. All others are quoted as JSON, so that they cannot control a terminal. */
const BARE = /^[\w.:/@+-]+$/;

/**
 * Formats a JSON log line as text: `10:20:30.123 WARN  tsdb: what happened field=value`, in local time. Stacks follow on
 * their own lines. Text that is not JSON is returned unchanged.
 */
export function textLine(json: string): string {
  const line = parse(json);
  if (line === undefined) return json;
  const { time, level, service, node: _node, msg, err, ...fields } = line;
  const stack = stackOf(err);
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`);
  if (err !== undefined && stack === undefined) pairs.push(`err=${shown(err)}`);
  const at = new Date(String(time));
  const clock = `${at.toTimeString().slice(0, 8)}.${String(at.getMilliseconds()).padStart(3, '0')}`;
  const subject = service === undefined ? '' : `${escaped(String(service))}: `;
  const head = `${clock} ${String(level).toUpperCase().padEnd(5)} ${subject}${escaped(String(msg ?? ''))}`;
  const tail = stack === undefined ? '' : `\n    ${stack.map(escaped).join('\n    ')}`;
  return `${[head, ...pairs].join(' ')}${tail}\n`;
}

function parse(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const line: unknown = JSON.parse(json);
    return typeof line === 'object' && line !== null ? { ...line } : undefined;
  } catch {
    return undefined;
  }
}

function stackOf(err: unknown): readonly string[] | undefined {
  const stack: unknown = Reflect.get(Object(err), 'stack');
  return typeof stack === 'string' ? stack.split('\n').map((each) => each.trim()) : undefined;
}

function shown(value: unknown): string {
  const isBare = typeof value === 'string' && BARE.test(value);
  return isBare ? value : escaped(JSON.stringify(value) ?? 'undefined');
}

const escaped = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (mark) => `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
