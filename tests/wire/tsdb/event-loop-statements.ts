import assert from 'node:assert/strict';
import { command, FlightClient } from '../../harness/flight-client.js';
import { EventLoopDelay, ServerProcess } from '../../harness/index.js';
import {
  callFlight,
  callPrepared,
  callTicket,
  deleteByPredicate,
  errorOf,
  get,
  killQuery,
  post,
  refuse,
  statement,
  write,
} from './event-loop-calls.js';
import {
  BOUNDS,
  CHANGES,
  COMMANDS,
  DELETIONS,
  INFLUXQL,
  INTERNAL,
  inV3,
  LARGE_VALUES,
  REJECTED,
  REJECTED_SQL,
  SHOWS,
  SQL,
} from './event-loop-lists.js';

const FIRST_NS = 1_700_000_000_000_000_000n;
/** A garbage collection may slow down one attempt of a statement, but not all of them. */
const ATTEMPTS = 3;
/** Fewer tables mean that their list was not read. */
const MIN_SYSTEM_TABLES = 8;
const REFERENCE_ROUNDS = 20;
/** CPU time of the work in `slowness` on two idle, shared cores, measured as 87 to 117 ms. */
const REFERENCE_MS = 90;
/** Number of the longest delays in the test's output. */
const REPORTED = 10;
const MAX_NAME_LENGTH = 200;

type Run = (server: ServerProcess, flight: FlightClient, attempt: number) => Promise<unknown>;

/**
 * Runs every kind of statement over many series and asserts a bound on the time that each blocks the event loop.
 * Three fifths of the series are in one table. The others are in a policy with the same table names, in another table, in a
 * half-deleted table, and in a database for each deletion attempt.
 */
export async function checkStatements(options: {
  readonly seriesCount: number;
  readonly maxMs: number;
  /** Number of tables in addition to the tables that the statements name. */
  readonly tableCount?: number;
  /** Selects statements; all by default. */
  readonly only?: RegExp;
  /** Receives the longest delays. */
  readonly report: (line: string) => void;
}): Promise<void> {
  const { seriesCount, maxMs, tableCount = 0, only = /^/, report } = options;
  const delay = await EventLoopDelay.create();
  const server = await ServerProcess.start({ flags: ['--without-auth'], env: delay.env });
  const flight = new FlightClient(server.url, { 'grpc.max_receive_message_length': -1 });
  const measured: [ms: number, name: string][] = [];
  try {
    await fill(server, seriesCount);
    await write(server, 'd', tableCount, (i) => `table${i},host=h f0=1,f1=2,f2="x" ${FIRST_NS}`);
    const slow: string[] = [];
    for (const [name, run] of [...statements(), ...(await systemTables(server))]) {
      if (!only.test(name)) continue;
      let least = Number.POSITIVE_INFINITY;
      for (let i = 0; i < ATTEMPTS && least > maxMs; i++) {
        await delay.take(server);
        await run(server, flight, i);
        least = Math.min(least, await delay.take(server));
      }
      if (least > maxMs && least > maxMs * slowness()) slow.push(line([least, name]));
      measured.push([least, name]);
    }
    assert.deepEqual(slow, []);
  } finally {
    measured.sort(([a], [b]) => b - a);
    for (const longest of measured.slice(0, REPORTED)) report(line(longest));
    report(`${measured.length} statements`);
    flight.close();
    await server.close();
    await delay.close();
  }
}

/**
 * Returns how many times more CPU time than on an idle machine the same work takes now, at least 1. Other work on the machine
 * shares the processors' caches.
 */
function slowness(): number {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({ i, name: `h${(i * 7919) % 10_007}` }));
  const text = JSON.stringify(rows);
  const start = process.cpuUsage();
  for (let i = 0; i < REFERENCE_ROUNDS; i++)
    JSON.parse(text).sort((a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1));
  const { user, system } = process.cpuUsage(start);
  return Math.max(1, (user + system) / 1000 / REFERENCE_MS);
}

const line = ([ms, name]: readonly [ms: number, name: string]): string =>
  `${Math.round(ms)} ms: ${name.slice(0, MAX_NAME_LENGTH)}`;

async function fill(server: ServerProcess, seriesCount: number): Promise<void> {
  await write(server, 'd', 1, () => 'x v=1 1');
  await post(server, 'CREATE RETENTION POLICY "rp" ON "d" DURATION 0s REPLICATION 1');
  const user = (i: number): string => `user${(i * 7919) % 1_000_003}`;
  const m = (i: number): string => `m,host=h${i % 100},u=${user(i)} v=${i},s="x",ok=true`;
  const timed = (line: string, i: number) => `${line} ${FIRST_NS + BigInt(i) * 1_000_000n}`;
  await write(server, 'd', seriesCount * 0.6, (i) => timed(m(i), i));
  await write(server, 'd&rp=rp', seriesCount * 0.1, (i) => timed(m(i), i));
  await write(server, 'd', seriesCount * 0.2, (i) =>
    timed(`n,region=r${i % 7},k=k${i} w=${i}i`, i),
  );
  await write(server, 'd', seriesCount * 0.1, (i) => timed(`del,k=k${i} w=${i}i`, i));
  await createCaches(server);
  const half = FIRST_NS + BigInt(seriesCount * 0.05) * 1_000_000n;
  await post(server, `DELETE FROM del WHERE time < ${half}`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++)
    for (const table of ['a', 'b', 'c'])
      await write(server, `drop${attempt}`, seriesCount * 0.03, (i) =>
        timed(`${table},k=k${i} w=${i}i`, i),
      );
}

async function createCaches(server: ServerProcess): Promise<void> {
  const caches = [
    ['last_cache', { name: 'last', key_columns: ['host', 'u'], count: 1 }],
    ['distinct_cache', { name: 'distinct', columns: ['host', 'u'], max_cardinality: 1_000_000 }],
  ] as const;
  for (const [kind, cache] of caches) {
    const { status, text } = await server.http.send(`/api/v3/configure/${kind}`, {
      body: JSON.stringify({ db: 'd', table: 'm', ...cache }),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(status, 201, text);
  }
}

/** Returns all system tables of a user database and of the internal database. */
async function systemTables(server: ServerProcess): Promise<(readonly [string, Run])[]> {
  const q = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'system'";
  const found: (readonly [string, Run])[] = [];
  for (const db of ['d', '_internal']) {
    const query = new URLSearchParams({ db, q, format: 'json' }).toString();
    const { text } = await server.http.send(`/api/v3/query_sql?${query}`);
    const { results } = JSON.parse(text) as {
      readonly results: readonly [{ readonly series?: readonly [{ readonly values: string[][] }] }];
    };
    const tables = (results[0].series?.[0].values ?? []).flat();
    assert.ok(tables.length >= MIN_SYSTEM_TABLES, `${db}: ${text}`);
    for (const table of tables) {
      const all = `SELECT * FROM system.${table}`;
      found.push(
        [`system: ${db} ${table}`, (to) => get(to, 'query_sql', all, { db })],
        [`Flight, system: ${db} ${table}`, (_, to) => callFlight(to, statement(all), { db })],
      );
    }
  }
  return found;
}

function* statements(): Generator<readonly [name: string, run: Run]> {
  for (const q of [...SHOWS.flatMap((show) => BOUNDS.map((bound) => show + bound)), ...INFLUXQL])
    yield [q, (server) => post(server, q)];
  for (const q of SQL) yield [q, (server) => get(server, 'query_sql', q)];
  for (const format of ['csv', 'jsonl', 'pretty', 'parquet'])
    yield [format, (server) => get(server, 'query_sql', 'SELECT DISTINCT u FROM m', { format })];
  for (const q of LARGE_VALUES) {
    for (const format of ['json', 'jsonl', 'csv', 'pretty', 'parquet', 'arrow'])
      yield [`${format}: ${q}`, (server) => get(server, 'query_sql', q, { format })];
    yield [`Flight: ${q}`, (_, flight) => callFlight(flight, statement(q))];
  }
  for (const q of ['SELECT * FROM m', 'SHOW TAG VALUES WITH KEY = u'])
    yield [
      `native parquet: ${q}`,
      (server) => get(server, 'query_influxql', q, { format: 'parquet' }),
    ];
  for (const [name, type, fields] of COMMANDS)
    yield [
      `Flight: ${name} ${JSON.stringify(fields)}`,
      (_, flight) => callFlight(flight, command(name, type, fields)),
    ];
  for (const q of [...SHOWS, ...INFLUXQL].filter(inV3)) {
    yield [`native: ${q}`, (server) => get(server, 'query_influxql', q)];
    yield [
      `Flight: ${q}`,
      (_, flight) => callFlight(flight, statement(q), { language: 'influxql' }),
    ];
  }
  for (const query of SQL) {
    yield [`Flight: ${query}`, (_, flight) => callFlight(flight, statement(query))];
    yield [`Flight, prepared: ${query}`, (_, flight) => callPrepared(flight, query)];
  }
  for (const q of INTERNAL) {
    const db = '_internal';
    yield [`_internal: ${q}`, (server) => post(server, q, db)];
    if (!inV3(q)) continue;
    yield [`_internal, native: ${q}`, (server) => get(server, 'query_influxql', q, { db })];
    yield [
      `_internal, Flight: ${q}`,
      (_, flight) => callFlight(flight, statement(q), { language: 'influxql', db }),
    ];
  }
  for (const q of [SQL[0], 'SELECT DISTINCT u FROM m'])
    yield [`Flight, JSON ticket: ${q}`, (_, flight) => callTicket(flight, q ?? '')];
  for (const [q, error] of REJECTED)
    yield [q, async (server) => assert.match(await errorOf(server, q), new RegExp(`^${error}`), q)];
  for (const q of REJECTED_SQL) yield [q, (server) => refuse(server, q)];
  yield ['KILL QUERY', killQuery];
  yield ['/api/v2/delete', deleteByPredicate];
  for (const q of CHANGES) yield [q, (server) => post(server, q)];
  for (const q of DELETIONS) yield [q, (server, _, attempt) => post(server, q, `drop${attempt}`)];
}
