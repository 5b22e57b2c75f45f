import type { MetricSample, Metrics } from '@plinth/kernel';
import type { Statistic } from '@plinth/tsdb-influxql/show/show-server.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';

export interface CountedTables {
  databases(): readonly DatabaseSchema[];
  /**
   * Returns a function that counts the series of the table. The function keeps its reference,
   * because the table may be deleted before the call and must not be created again by counting.
   */
  seriesCounter(table: TableSchema): () => Promise<number>;
  /** Called for a table whose series could not be counted, so that the sum does not include them. */
  onUncounted(database: DatabaseSchema, table: TableSchema, error: unknown): void;
}

const WRITE_PATHS: readonly unknown[] = [
  '/write',
  '/api/v1/prom/write',
  '/api/v1/write',
  '/api/v2/write',
  '/api/v3/write_lp',
];
const QUERY_PATHS: readonly unknown[] = ['/query'];
const NS_PER_SEC = 1e9;

/** Returns those statistics of a 1.x server that this server also counts. */
export async function readStatistics(
  metrics: Metrics,
  tables: CountedTables,
): Promise<readonly Statistic[]> {
  const page = await MetricsPage.read(metrics);
  return [
    runtime(page),
    queryExecutor(page),
    ...(await databaseStatistics(tables)),
    httpd(page),
  ].filter(({ values }) => Object.keys(values).length > 0);
}

function runtime(page: MetricsPage): Statistic {
  const heap = page.sum('nodejs_heap_size_used_bytes');
  const values = { Alloc: heap, HeapAlloc: heap, Sys: page.sum('process_resident_memory_bytes') };
  return { name: 'runtime', tags: {}, values };
}

function queryExecutor(page: MetricsPage): Statistic {
  const queriesFinished = page.sum('query_log_phase_entered_total');
  const queriesActive = page.sum('query_log_phase_current');
  const values = {
    queriesActive,
    queriesExecuted: queriesFinished + queriesActive,
    queriesFinished,
    queryDurationNs: page.nanoseconds('query_log_end2end_duration_seconds'),
  };
  return { name: 'queryExecutor', tags: {}, values };
}

function httpd(page: MetricsPage): Statistic {
  const requests = (labels: Labels = {}): number => page.sum('http_requests_total', labels);
  const durationNs = (labels: Labels = {}): number =>
    page.nanoseconds('http_request_duration_seconds', labels);
  const values = {
    req: requests(),
    reqDurationNs: durationNs(),
    pingReq: requests({ path: ['/ping'] }),
    queryReq: requests({ path: QUERY_PATHS }),
    queryReqDurationNs: durationNs({ path: QUERY_PATHS }),
    writeReq: requests({ path: WRITE_PATHS }),
    writeReqDurationNs: durationNs({ path: WRITE_PATHS }),
    writeReqBytes: page.sum('influxdb3_write_bytes_total'),
    pointsWrittenOK: page.sum('influxdb3_write_lines_total'),
    pointsWrittenDropped: page.sum('influxdb3_write_lines_rejected_total'),
    authFail: requests({ status: ['unauthorized'] }),
    clientError: requests({ status: ['client_error', 'unauthorized'] }),
    serverError: requests({ status: ['server_error'] }),
  };
  return { name: 'httpd', tags: {}, values };
}

/**
 * Adds retention policies to their parent: in 1.x, a policy is part of a database, and here it is a database
 * `db/policy`.
 */
async function databaseStatistics(tables: CountedTables): Promise<Statistic[]> {
  const found = new Map<string, { readonly names: Set<string>; seriesCount: number }>();
  const counts: (() => Promise<void>)[] = [];
  for (const database of tables.databases()) {
    const name = database.name.split('/', 1)[0] ?? database.name;
    const entry = found.get(name) ?? { names: new Set(), seriesCount: 0 };
    found.set(name, entry);
    for (const table of database.tables.values()) {
      entry.names.add(table.name);
      const count = tables.seriesCounter(table);
      counts.push(async () => {
        try {
          const seriesCount = await count();
          entry.seriesCount += seriesCount;
        } catch (error) {
          tables.onUncounted(database, table, error);
        }
      });
    }
  }
  for (const count of counts) await count();
  return [...found].map(([database, { names, seriesCount }]) => ({
    name: 'database',
    tags: { database },
    values: { numMeasurements: names.size, numSeries: seriesCount },
  }));
}

/** Accepted values by label. A sample without the label does not match. */
type Labels = Readonly<Record<string, readonly unknown[]>>;

class MetricsPage {
  readonly #samples: ReadonlyMap<string, readonly MetricSample[]>;

  private constructor(samples: ReadonlyMap<string, readonly MetricSample[]>) {
    this.#samples = samples;
  }

  static async read(metrics: Metrics): Promise<MetricsPage> {
    const all = await metrics.read();
    return new MetricsPage(new Map(all.map(({ metric, samples }) => [metric.name, samples])));
  }

  sum(name: string, labels: Labels = {}): number {
    return this.#sum(name, name, labels);
  }

  /** Returns the sum of a histogram of seconds, in nanoseconds. */
  nanoseconds(name: string, labels: Labels = {}): number {
    return Math.round(this.#sum(name, `${name}_sum`, labels) * NS_PER_SEC);
  }

  #sum(metric: string, sampleName: string, wanted: Labels): number {
    let total = 0;
    for (const { metricName = metric, labels = {}, value } of this.#samples.get(metric) ?? []) {
      if (metricName !== sampleName) continue;
      const isWanted = Object.entries(wanted).every(([key, values]) =>
        values.includes(labels[key]),
      );
      if (isWanted) total += value;
    }
    return total;
  }
}
