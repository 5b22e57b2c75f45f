import { setTimeout } from 'node:timers/promises';
import type { Clock, Random } from '@plinth/kernel';
import type { Column } from '../../model/columns/column.js';
import type { ResultStream } from '../../model/columns/result.js';
import type { RowBatch } from '../../model/columns/row-batch.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import type { DuckDbHost } from '../../storage/duckdb/duckdb-host.js';
import type { SegmentFiles } from '../../storage/segments/segment-files.js';
import { QueryLog } from '../system-tables/query-log.js';
import { ColumnCache } from './columns/cache/column-cache.js';
import { type Planner, QueryPath } from './query/query-path.js';
import { TableStore } from './table/table-store.js';

const HOSTS = 4;
const ROWS_PER_HOST = 720;
const INTERVAL_NS = 10_000_000_000n;
const START_NS = 1_700_000_000_000_000_000n;
const CACHE_BYTES = 1024 * 1024;

/** Rounds over all statements from memory, and with the engine. */
const DIRECT_ROUNDS = 80;
const ENGINE_ROUNDS = 3;
/** Between two statements others get their turn, and most of the time. */
const PAUSE_MS = 1;
/** Nobody has written for so long. */
const CALM_MS = 1000;
/** Then the warm-up goes on beside the writes. */
const LONGEST_WAIT_MS = 60_000;

const column = (id: number, kind: Column['kind'], name: string): Column => ({
  ...{ id, name, kind },
  physicalName: name,
});
const HOST = column(1, 'tag', 'host');
const TIME = column(2, 'time', 'time');
const FIELDS = [column(3, 'int64', 'a'), column(4, 'float64', 'b')];

/** Belongs to no database and is never stored: no table of the catalog has its number. */
const TABLE: TableSchema = {
  id: -1,
  uuid: '00000000-0000-7000-8000-000000000000',
  databaseId: -1,
  name: 't',
  columns: new Map([...FIELDS, HOST, TIME].map((each) => [each.name, each])),
  seriesKey: ['host'],
  seriesSeed: 1n,
  version: 1,
  retentionNs: undefined,
};

const DATABASE: DatabaseSchema = {
  id: -1,
  uuid: TABLE.uuid,
  name: 'warm-up',
  retentionNs: undefined,
  tables: new Map([[TABLE.name, TABLE]]),
};

/**
 * Runs queries over a small table of its own, from the text to the encoded answer, until the runtime has compiled what
 * queries run through: the first of a user would pay for it otherwise.
 */
export async function warmUpQueries(options: {
  readonly host: DuckDbHost;
  readonly files: SegmentFiles;
  readonly planner: Planner;
  readonly clock: Clock;
  readonly random: Random;
  /** Since the last write. */
  readonly writeIdleMs: () => number;
  /** Takes an answer to its end. */
  readonly consume: (result: ResultStream) => Promise<void>;
  /** Asks in InfluxQL and takes the answer to its end. */
  readonly influxqlOver: (
    queries: Pick<QueryPath, 'openSession'>,
    database: DatabaseSchema,
  ) => (text: string) => Promise<void>;
  /** Aborted when the node closes. */
  readonly signal: AbortSignal;
}): Promise<void> {
  const { host, files, clock, signal } = options;
  const store = new TableStore({
    schema: TABLE,
    host,
    files,
    known: { check: (segment) => files.verify(segment), doubt: () => false },
    cache: new ColumnCache({ limitBytes: CACHE_BYTES, nowMs: () => clock.monotonicMs() }),
    onDamaged: () => undefined,
    onError: () => undefined,
  });
  const queries = new QueryPath({
    catalog: { database: () => DATABASE, databaseById: () => DATABASE },
    host,
    files,
    planner: options.planner,
    storeOf: () => store,
    virtualTables: () => ({
      table: () => undefined,
      tableFunction: () => undefined,
      systemTableNames: [],
    }),
    queryLog: new QueryLog({ maxEntryCount: 1, clock, random: options.random, onEnded() {} }),
    nowNs: () => clock.nowNs(),
    maxConcurrentQueries: 1,
    queryTimeoutMs: 0,
  });
  // Ingest goes first; who writes without a pause warms the rest up with queries of his own.
  const latestMs = clock.monotonicMs() + LONGEST_WAIT_MS;
  const untilCalm = async (): Promise<void> => {
    while (options.writeIdleMs() < CALM_MS && clock.monotonicMs() < latestMs) {
      await setTimeout(CALM_MS / 4, undefined, { signal });
    }
  };
  const askInfluxql = options.influxqlOver(queries, DATABASE);
  const askBeside = async (text: string): Promise<void> => {
    await untilCalm();
    await askInfluxql(text);
    await setTimeout(PAUSE_MS, undefined, { signal });
  };
  const ask = async (text: string): Promise<void> => {
    await untilCalm();
    const query = { database: '', language: 'sql', text, params: new Map(), signal } as const;
    await options.consume(await queries.query(query));
    await setTimeout(PAUSE_MS, undefined, { signal });
  };
  try {
    // A load that follows right after the start goes first, too.
    await setTimeout(CALM_MS, undefined, { signal });
    store.append(0, rowsOf(store), 1n);
    for (let round = 0; round < DIRECT_ROUNDS; round++) {
      for (const text of statements(round)) await ask(text);
      for (const text of influxqlStatements(round)) await askBeside(text);
    }
    for (let round = 0; round < ENGINE_ROUNDS; round++)
      // What stands in a comment is not looked at, and the statement is planned for the engine.
      for (const text of statements(round)) await ask(`${text} -- ${round}`);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await store.dispose();
  }
}

function statements(round: number): readonly string[] {
  const host = `host-${round % HOSTS}`;
  const start = new Date(Number(START_NS / 1_000_000n) + (round % 10) * 60_000).toISOString();
  const where = `WHERE host = '${host}' AND time >= '${start}'`;
  const bucket = "date_bin(INTERVAL '1 minute', time) AS bucket";
  return [
    `SELECT ${bucket}, max(a) AS x, min(b) AS y FROM t ${where} GROUP BY bucket ORDER BY bucket`,
    `SELECT ${bucket}, host, avg(a) AS x FROM t WHERE time >= '${start}' GROUP BY bucket, host ORDER BY bucket, host`,
    `SELECT * FROM t ${where} AND a > 90`,
    'SELECT DISTINCT ON (host) * FROM t ORDER BY host, time DESC',
    `SELECT ${bucket}, max(b) AS x FROM t GROUP BY bucket ORDER BY bucket DESC LIMIT 5`,
  ];
}

/** Shapes of dashboards. */
function influxqlStatements(round: number): readonly string[] {
  const host = `host-${round % HOSTS}`;
  const start = new Date(Number(START_NS / 1_000_000n) + (round % 10) * 60_000);
  const end = new Date(start.getTime() + 3_600_000);
  const range = `time >= '${start.toISOString()}' AND time < '${end.toISOString()}'`;
  const rangeMs = `time >= ${start.getTime()}ms and time <= ${end.getTime()}ms`;
  return [
    `SELECT max("a") AS "x", max("b") AS "y" FROM "t" WHERE ("host" = '${host}') AND ${range} GROUP BY time(1m)`,
    `SELECT mean("b") FROM "t" WHERE ${rangeMs} GROUP BY time(30s), "host" fill(null)`,
    `SELECT * FROM "t" WHERE "a" > 90 AND ("host" = '${host}') AND ${range}`,
    'SELECT * FROM "t" GROUP BY "host" ORDER BY time DESC LIMIT 1',
    `SELECT max("b") AS "x" FROM "t" WHERE time < '${end.toISOString()}' GROUP BY time(1m) ORDER BY time DESC LIMIT 5`,
  ];
}

function rowsOf(store: TableStore): RowBatch {
  const rowCount = HOSTS * ROWS_PER_HOST;
  const series = new Uint32Array(rowCount);
  const times = new BigInt64Array(rowCount);
  const a = new BigInt64Array(rowCount);
  const b = new Float64Array(rowCount);
  const hosts = Array.from({ length: HOSTS }, (_, i) =>
    store.index.resolve(['host'], [`host-${i}`]),
  );
  for (let row = 0; row < rowCount; row++) {
    series[row] = hosts[row % HOSTS] as number;
    times[row] = START_NS + BigInt(Math.floor(row / HOSTS)) * INTERVAL_NS;
    a[row] = BigInt((row * 7) % 100);
    b[row] = ((row * 13) % 1000) / 8;
  }
  const [integers, floats] = FIELDS as [Column, Column];
  return {
    rowCount,
    series,
    times,
    fields: [
      { column: integers, data: { type: 'int64', values: a }, validity: undefined },
      { column: floats, data: { type: 'float64', values: b }, validity: undefined },
    ],
  };
}
