import { type OldNames, unquote } from './old-names.js';

/** A continuous query as a trigger of the processing engine. */
export interface QueryTrigger {
  readonly fileName: string;
  readonly plugin: string;
  /** Command that creates the trigger. */
  readonly command: string;
}

/** A continuous query and its location. */
export interface ContinuousQuery {
  readonly name: string;
  readonly query: string;
  /** File name of the plugin, with extension. */
  readonly fileName: string;
  readonly names: OldNames;
}

interface Place {
  readonly database: string;
  readonly table: string;
}

const DURATION = String.raw`(?:\d+(?:ns|u|µ|ms|s|m|h|d|w))+`;
const NAME = String.raw`(?:"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*)`;
const QUERY = new RegExp(
  String.raw`^\s*CREATE CONTINUOUS QUERY (${NAME}) ON (${NAME})` +
    String.raw`(?: RESAMPLE(?: EVERY (${DURATION}))?(?: FOR (${DURATION}))?)?` +
    String.raw` BEGIN SELECT (.+?) INTO (${NAME}(?:\.${NAME}?){0,1}(?:\.${NAME})?) FROM (${NAME}(?:\.${NAME}?){0,1}(?:\.${NAME})?)` +
    String.raw`(?: WHERE (.+?))? GROUP BY time\((${DURATION})\)((?:, ?(?:${NAME}|\*))*)(?: fill\((?:none|null)\))? END\s*$`,
  'i',
);
const ITEM = new RegExp(String.raw`^(\w+)\((${NAME})\)(?: AS (${NAME}))?$`, 'i');
/** SQL equivalents of the aggregates of 1.x. */
const AGGREGATES: Readonly<Record<string, (column: string) => string>> = {
  mean: (column) => `avg(${column})`,
  sum: (column) => `sum(${column})`,
  min: (column) => `min(${column})`,
  max: (column) => `max(${column})`,
  count: (column) => `count(${column})`,
  median: (column) => `median(${column})`,
  stddev: (column) => `stddev(${column})`,
  spread: (column) => `max(${column}) - min(${column})`,
  first: (column) => `first_value(${column} ORDER BY time)`,
  last: (column) => `last_value(${column} ORDER BY time)`,
};
const UNITS_NS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  u: 1000n,
  µ: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};

/**
 * Converts a continuous query of InfluxDB 1.x to a trigger. Supports aggregates of single fields over a time interval, with any tags.
 * @returns `undefined` for other queries, which must be converted by hand.
 */
export function triggerOf({
  name,
  query,
  fileName,
  names,
}: ContinuousQuery): QueryTrigger | undefined {
  const parts = QUERY.exec(query);
  if (parts === null) return undefined;
  const [, , on = '', every, span, list = '', into = '', from = '', where, interval = '', by = ''] =
    parts;
  const home = unquote(on);
  const columns = list.split(/\s*,\s*/).map(columnOf);
  if (columns.includes(undefined)) return undefined;
  const source = placeOf(from, home, names);
  const target = placeOf(into, home, names);
  // Regular expressions of InfluxQL are not supported here. String literals and comparisons are the same in both languages.
  if (
    source === undefined ||
    target === undefined ||
    (where !== undefined && /[~]|\btime\b|now\(\)/i.test(where))
  )
    return undefined;
  const intervalNs = nanoseconds(interval);
  const everyNs = every === undefined ? intervalNs : nanoseconds(every);
  const spanNs = span === undefined ? intervalNs : nanoseconds(span);
  const tags = by.split(/\s*,\s*/).filter((tag) => tag !== '');
  const text = (value: string): string => JSON.stringify(value);
  const plugin = PLUGIN.replace(/@(\w+)@/g, (_, key: string) =>
    String(
      {
        QUERY: query.trim().replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"'),
        TABLE: text(source.table),
        TARGET_DATABASE: text(target.database),
        TARGET: text(target.table),
        INTERVAL: intervalNs,
        SPAN: spanNs > intervalNs ? spanNs : intervalNs,
        TAGS: tags.includes('*') ? 'None' : `[${tags.map((tag) => text(unquote(tag))).join(', ')}]`,
        COLUMNS: `[${columns.map((column) => `(${text(column?.sql ?? '')}, ${text(column?.name ?? '')})`).join(', ')}]`,
        WHERE: text(where === undefined ? '' : ` AND (${where})`),
      }[key],
    ),
  );
  const command =
    `plinth trigger create --database ${shellText(source.database)} --spec every:${everyNs / 1_000_000_000n || 1n}s ` +
    `--plugin ${fileName} ${shellText(name)}`;
  return { fileName, plugin, command };
}

function columnOf(item: string): { readonly sql: string; readonly name: string } | undefined {
  const [, functionName = '', column = '', alias] = ITEM.exec(item.trim()) ?? [];
  const make = AGGREGATES[functionName.toLowerCase()];
  if (make === undefined) return undefined;
  return {
    sql: make(`"${unquote(column).replaceAll('"', '""')}"`),
    name: alias === undefined ? functionName.toLowerCase() : unquote(alias),
  };
}

/** `table`, `policy.table`, `database.policy.table`, or `database..table`. */
function placeOf(text: string, home: string, places: OldNames): Place | undefined {
  const names = text.match(new RegExp(`${NAME}|(?<=\\.)(?=\\.)`, 'g'))?.map(unquote) ?? [];
  const table = names.at(-1);
  if (table === undefined || names.length > 3) return undefined;
  const policy = names.length > 1 ? (names.at(-2) ?? '') : '';
  const database = places.place(names.length > 2 ? (names[0] ?? home) : home, policy);
  return database === undefined ? undefined : { database, table };
}

function nanoseconds(text: string): bigint {
  let sum = 0n;
  for (const [, count = '0', unit = ''] of text.matchAll(/(\d+)(ns|ms|[uµsmhdw])/g))
    sum += BigInt(count) * (UNITS_NS[unit] ?? 0n);
  return sum;
}

const shellText = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const PLUGIN = `"""A continuous query of InfluxDB 1.x as a trigger:

@QUERY@
"""

TABLE = @TABLE@
TARGET_DATABASE = @TARGET_DATABASE@
TARGET = @TARGET@
INTERVAL_NS = @INTERVAL@
# Time range of each run, back from now; results of earlier runs are overwritten.
SPAN_NS = @SPAN@
# None: all tags of the table.
TAGS = @TAGS@
COLUMNS = @COLUMNS@
WHERE = @WHERE@


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def process_scheduled_call(influxdb3_local, call_time, args=None):
    end = int(call_time.timestamp()) * 1_000_000_000 // INTERVAL_NS * INTERVAL_NS
    start = end - SPAN_NS
    tags = TAGS
    if tags is None:
        found = influxdb3_local.query(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = 'iox' AND table_name = $table"
            " AND data_type LIKE 'Dictionary%'",
            {"table": TABLE},
        )
        tags = [row["column_name"] for row in found]
    keys = ", ".join(quoted(tag) for tag in tags)
    chosen = ", ".join(f"{sql} AS {quoted(name)}" for sql, name in COLUMNS)
    bucket = f"date_bin(INTERVAL '{INTERVAL_NS} nanoseconds', time)"
    rows = influxdb3_local.query(
        f"SELECT CAST({bucket} AS BIGINT) AS bucket_ns{', ' + keys if keys else ''}, {chosen} FROM {quoted(TABLE)}"
        f" WHERE CAST(time AS BIGINT) >= {start} AND CAST(time AS BIGINT) < {end}{WHERE}"
        f" GROUP BY bucket_ns{', ' + keys if keys else ''}"
    )
    for row in rows:
        line = LineBuilder(TARGET)
        for tag in tags:
            if row.get(tag) is not None:
                line.tag(tag, row[tag])
        has_value = False
        for _, name in COLUMNS:
            value = row.get(name)
            if value is None:
                continue
            has_value = True
            if isinstance(value, bool):
                line.bool_field(name, value)
            elif isinstance(value, int):
                line.int64_field(name, value)
            elif isinstance(value, float):
                line.float64_field(name, value)
            else:
                line.string_field(name, str(value))
        if has_value:
            line.time_ns(row["bucket_ns"])
            influxdb3_local.write_to_db(TARGET_DATABASE, line)
    influxdb3_local.info(f"{len(rows)} rows written to {TARGET_DATABASE} {TARGET}")
`;
