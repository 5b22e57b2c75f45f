import type { Chance } from '../../harness/index.js';
import { type OldInfluxdb, queryOf, type Result } from './old-influxdb.js';

const BATCH = 20_000;
const START_NS = 1_764_000_000_000_000_000n;
/** Time range of the points from `fill`. */
const FILLED = 'time < 1780000000s';
const STEP_NS = 10_000_000_000n;

/** Two databases and three retention policies, with fields of every type. */
export const PLACES = [
  { db: 'telegraf', rp: 'autogen', table: 'cpu', hosts: 50, part: 0.5 },
  { db: 'telegraf', rp: 'weekly', table: 'disk', hosts: 20, part: 0.2 },
  { db: 'plant', rp: 'autogen', table: 'pl\\,ant', hosts: 1000, part: 0.3 },
] as const;

/** Fills a 1.x server. @param pointCount number of points in all retention policies. */
export async function fill(old: OldInfluxdb, chance: Chance, pointCount: number): Promise<void> {
  const statements = [
    'CREATE DATABASE telegraf',
    'CREATE DATABASE plant',
    'CREATE RETENTION POLICY weekly ON telegraf DURATION INF REPLICATION 1 SHARD DURATION 1d',
    "CREATE USER ann WITH PASSWORD 'secret' WITH ALL PRIVILEGES",
    "CREATE USER bob WITH PASSWORD 'word'",
    'GRANT READ ON telegraf TO bob',
    'CREATE CONTINUOUS QUERY cq_cpu ON telegraf BEGIN SELECT mean(usage) AS usage, max(count) INTO telegraf.weekly.cpu_10m FROM cpu GROUP BY time(10m), * END',
  ];
  for (const statement of statements) await old.query(statement);
  for (const { db, rp, table, hosts, part } of PLACES) {
    let lines: string[] = [];
    const count = Math.round(pointCount * part);
    for (let i = 0; i < count; i++) {
      const host = i % hosts;
      // The timestamps of some series have no common interval.
      const ns =
        START_NS +
        BigInt(Math.floor(i / hosts)) * STEP_NS +
        (host % 3 === 0 ? BigInt(chance.between(0, 999)) : 0n);
      const fields = [
        `usage=${(chance.between(0, 1_000_000) / 10 ** chance.between(0, 6)).toString()}`,
        `count=${i % 97 === 0 ? chance.between(0, 1_000_000_000) - 500_000_000 : i % 1000}i`,
        `up=${chance.between(0, 9) > 0}`,
      ];
      if (i % 5 === 0) fields.push(`note="a \\"q\\" ${i % 50}, x=y é\\\\ z"`);
      lines.push(`${table},host=h\\ ${host},dc=d${host % 3} ${fields.join(',')} ${ns}`);
      if (lines.length < BATCH && i < count - 1) continue;
      await old.write(db, rp, lines);
      lines = [];
    }
  }
}

/** Returns counts and sums of every retention policy on one server. */
export async function figures(url: string): Promise<unknown> {
  const all: unknown[] = [];
  for (const { db, rp, table } of PLACES) {
    const from = `"${rp}"."${table.replace('\\', '')}"`;
    const asked =
      'count(usage), count(count), count(up), count(note), sum(count), min(count), max(usage), min(usage)';
    all.push(
      rowsOf(await queryOf(url, `SELECT ${asked} FROM ${from} WHERE ${FILLED} GROUP BY dc`, db)),
    );
    all.push(
      rowsOf(
        await queryOf(
          url,
          `SELECT count(up) FROM ${from} WHERE up = true AND ${FILLED} GROUP BY host`,
          db,
        ),
      ),
    );
  }
  return all;
}

/** Random points, with all their fields. */
export async function sample(
  url: string,
  chance: Chance,
  count: number,
  pointCount: number,
): Promise<unknown[]> {
  const points: unknown[] = [];
  for (let i = 0; i < count; i++) {
    const { db, rp, table, hosts, part } =
      PLACES[chance.between(0, PLACES.length - 1)] ?? PLACES[0];
    const host = chance.between(0, hosts - 1);
    const step = chance.between(0, Math.floor((pointCount * part) / hosts) - 1);
    const ns = START_NS + BigInt(step) * STEP_NS;
    const q = `SELECT * FROM "${rp}"."${table.replace('\\', '')}" WHERE host = 'h ${host}' AND time >= ${ns} AND time < ${ns + STEP_NS}`;
    points.push(rowsOf(await queryOf(url, q, db)));
  }
  return points;
}

/** Groups the rows by series tags, each value by its column. */
function rowsOf(results: readonly Result[]): unknown {
  const [result] = results;
  if (result?.error !== undefined) throw new Error(result.error);
  const rows = result?.series?.flatMap(({ name, tags, columns, values }) =>
    values.map((row) => [
      name,
      { ...tags, ...Object.fromEntries(columns.map((column, i) => [column, row[i]])) },
    ]),
  );
  return rows?.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Yields all data in the format of `influx_inspect export`: one line for each value. */
export async function* exported(url: string): AsyncGenerator<string> {
  yield '# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z\n# DDL\n';
  yield 'CREATE DATABASE telegraf WITH NAME autogen\nCREATE DATABASE telegraf WITH NAME weekly\nCREATE DATABASE plant WITH NAME autogen\n# DML\n';
  for (const { db, rp, table, hosts } of PLACES) {
    yield `# CONTEXT-DATABASE:${db}\n# CONTEXT-RETENTION-POLICY:${rp}\n# writing tsm data\n`;
    for (let host = 0; host < hosts; host++) {
      const series = `${table},dc=d${host % 3},host=h\\ ${host}`;
      const q = `SELECT usage, count, up, note FROM "${rp}"."${table.replace('\\', '')}" WHERE host = 'h ${host}'`;
      const [result] = await queryOf(url, q, db);
      const rows = result?.series?.[0]?.values ?? [];
      // Timestamps beyond 2^53 lose digits in the result, so they are queried as strings.
      const times = await timesOf(url, q, db);
      for (const [at, name] of [
        [1, 'usage'],
        [2, 'count'],
        [3, 'up'],
        [4, 'note'],
      ] as const) {
        for (const [i, row] of rows.entries()) {
          const value = row[at];
          if (value === null || value === undefined) continue;
          const text =
            typeof value === 'string'
              ? `"${value.replace(/["\\]/g, '\\$&')}"`
              : `${value}${name === 'count' ? 'i' : ''}`;
          yield `${series} ${name}=${text} ${times[i]}\n`;
        }
      }
    }
  }
}

async function timesOf(url: string, q: string, db: string): Promise<readonly bigint[]> {
  const body = new URLSearchParams({ q, db, epoch: 'ns' });
  const text = await (await fetch(`${url}/query`, { method: 'POST', body })).text();
  return [...text.matchAll(/\[(\d{19}),/g)].map(([, ns = '']) => BigInt(ns));
}
