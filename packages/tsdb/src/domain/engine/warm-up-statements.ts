import { FIELD_NAMES, HOST_COUNT, hostName, START_MS } from './warm-up-table.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** How many fields and hosts questions are about. */
const FIELD_COUNTS = [1, 5, 10];
const FEW_HOSTS = [1, 8];

/** What dashboards ask, each round about others. */
interface Question {
  readonly fields: readonly string[];
  readonly hosts: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly fromMs: number;
  readonly toMs: number;
}

function questionOf(round: number): Question {
  const fromMs = START_MS + (round % 10) * MINUTE_MS;
  const toMs = fromMs + HOUR_MS;
  const hostCount = FEW_HOSTS[round % FEW_HOSTS.length];
  return {
    fields: FIELD_NAMES.slice(0, FIELD_COUNTS[round % FIELD_COUNTS.length]),
    hosts: Array.from({ length: hostCount ?? 1 }, (_, i) => hostName((round + i * 3) % HOST_COUNT)),
    from: textOf(fromMs),
    to: textOf(toMs),
    fromMs,
    toMs,
  };
}

const textOf = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

export function sqlStatements(round: number): readonly string[] {
  const { fields, hosts, from, to } = questionOf(round);
  const range = `time >= '${from}' AND time < '${to}'`;
  const some = `host IN (${hosts.map((host) => `'${host}'`).join(', ')})`;
  const minute = "date_bin(INTERVAL '1 minute', time) AS bucket";
  const hour = "date_bin(INTERVAL '1 hour', time) AS bucket";
  const calls = (name: string, of: readonly string[]): string =>
    of.map((field) => `${name}(${field}) AS ${name}_${field}`).join(', ');
  return [
    `SELECT ${minute}, ${calls('max', fields)} FROM t WHERE ${some} AND ${range} GROUP BY bucket ORDER BY bucket`,
    `SELECT ${hour}, ${calls('max', FIELD_NAMES)} FROM t WHERE ${some} AND ${range} GROUP BY bucket ORDER BY bucket`,
    `SELECT ${hour}, host, ${calls('avg', fields)} FROM t WHERE ${range} GROUP BY bucket, host ORDER BY bucket, host`,
    `SELECT * FROM t WHERE a > 90 AND ${some} AND ${range}`,
    'SELECT DISTINCT ON (host) * FROM t ORDER BY host, time DESC',
    `SELECT ${minute}, max(b) AS x FROM t WHERE time < '${to}' GROUP BY bucket ORDER BY bucket DESC LIMIT 5`,
    ...(round % 4 === 0 ? [`SELECT * FROM t WHERE a > 90 AND ${range}`] : []),
  ];
}

export function influxqlStatements(round: number): readonly string[] {
  const { fields, hosts, from, to, fromMs, toMs } = questionOf(round);
  const range = `time >= '${from}' AND time < '${to}'`;
  const some = `(${hosts.map((host) => `"host" = '${host}'`).join(' OR ')})`;
  const calls = (name: string, of: readonly string[]): string =>
    of.map((field) => `${name}("${field}") AS "${name}_${field}"`).join(', ');
  return [
    `SELECT ${calls('max', fields)} FROM "t" WHERE ${some} AND ${range} GROUP BY time(1m)`,
    `SELECT ${calls('max', FIELD_NAMES)} FROM "t" WHERE ${some} AND ${range} GROUP BY time(1h)`,
    `SELECT ${calls('mean', fields)} FROM "t" WHERE ${range} GROUP BY time(1h), "host"`,
    `SELECT mean("b") FROM "t" WHERE time >= ${fromMs}ms and time <= ${toMs}ms GROUP BY time(30s), "host" fill(null)`,
    `SELECT * FROM "t" WHERE "a" > 90 AND ${some} AND ${range}`,
    'SELECT * FROM "t" GROUP BY "host" ORDER BY time DESC LIMIT 1',
    `SELECT max("b") AS "x" FROM "t" WHERE time < '${to}' GROUP BY time(1m) ORDER BY time DESC LIMIT 5`,
    ...(round % 4 === 0 ? [`SELECT * FROM "t" WHERE "a" > 90 AND ${range}`] : []),
  ];
}
