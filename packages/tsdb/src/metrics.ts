import { type Counter, Histogram, type Metrics } from '@plinth/kernel';
import type { CacheState, Caches } from '@plinth/tsdb-caches/caches.js';
import type { EngineState } from '@plinth/tsdb-engine/engine-state.js';
import type { LoggedQuery } from '@plinth/tsdb-engine/query/log/logged-query.js';
import type { LiveQueries } from '@plinth/tsdb-live-queries/live-queries.js';
import type { QueryPhase } from '@plinth/tsdb-model/query/query-outcome.js';
import type { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import type { ContinuousQueries } from './domain/continuous-queries/continuous-queries.js';
import type { MemoryShares } from './settings/memory-shares.js';

const FLUSH_BOUNDS_SEC = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const QUERY_BOUNDS_SEC = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30];

/**
 * DuckDB and storage metrics for `/metrics`. State is read on request; only finished flushes, merges and queries are
 * counted. Metrics that InfluxDB also has use its names: tsdb-http, section 10.
 */
export class EngineMetrics {
  readonly #flushes: Counter;
  readonly #failedFlushes: Counter;
  readonly #compactions: Counter;
  readonly #failedCompactions: Counter;
  readonly #failures: Counter;
  readonly #lostRows: Counter;
  readonly #flushSec = new Histogram(FLUSH_BOUNDS_SEC);
  readonly #querySec = new Histogram(QUERY_BOUNDS_SEC);
  readonly #endedQueries = new Map<QueryPhase, number>([
    ['success', 0],
    ['fail', 0],
    ['cancel', 0],
  ]);

  constructor(metrics: Metrics) {
    const counter = (name: string, help: string): Counter => metrics.counter({ name, help });
    this.#flushes = counter('plinth_tsdb_flushes_total', 'Flushes of rows into segments.');
    this.#failedFlushes = counter(
      'plinth_tsdb_flushes_failed_total',
      'Failed flushes, which are retried.',
    );
    this.#compactions = counter('plinth_tsdb_compactions_total', 'Merges of segments.');
    this.#failedCompactions = counter(
      'plinth_tsdb_compactions_failed_total',
      'Failed file merges, which are retried.',
    );
    this.#failures = counter(
      'plinth_tsdb_background_failures_total',
      'Failures of background work.',
    );
    this.#lostRows = counter(
      'plinth_tsdb_log_rows_lost_total',
      'Rows in the log whose table or tags were lost in a repair.',
    );
    const histogram = (name: string, help: string, values: Histogram): void =>
      metrics.add({ name, help, type: 'histogram', samples: () => values.samples(name) });
    histogram('plinth_tsdb_flush_duration_seconds', 'Duration of a flush.', this.#flushSec);
    histogram(
      'query_log_end2end_duration_seconds',
      'Time from the arrival of a query to its last row, including waiting time.',
      this.#querySec,
    );
    metrics.add({
      name: 'query_log_phase_entered_total',
      help: 'Queries that have ended, by outcome.',
      type: 'counter',
      labels: ['phase'],
      samples: () =>
        [...this.#endedQueries].map(([phase, value]) => ({ labels: { phase }, value })),
    });
  }

  rowsLost(rowCount: number): void {
    this.#lostRows.inc(rowCount);
  }

  flushed(durationMs: number): void {
    this.#flushes.inc();
    this.#flushSec.observe(durationMs / 1000);
  }

  flushFailed(): void {
    this.#failedFlushes.inc();
  }

  compacted(): void {
    this.#compactions.inc();
  }

  compactionFailed(): void {
    this.#failedCompactions.inc();
  }

  backgroundFailed(): void {
    this.#failures.inc();
  }

  queryEnded({ phase, endToEndNs = 0n }: LoggedQuery): void {
    this.#endedQueries.set(phase, (this.#endedQueries.get(phase) ?? 0) + 1);
    this.#querySec.observe(Number(endToEndNs) / 1e9);
  }
}

/** Registers the state of an open storage engine. Called once per registry. */
export function observeEngine(metrics: Metrics, read: () => EngineState): void {
  const gauge = (name: string, help: string, pick: (state: EngineState) => number): void =>
    metrics.gauge({ name, help, read: () => pick(read()) });
  gauge(
    'plinth_tsdb_buffered_bytes',
    'Bytes of rows that are not in segments yet.',
    (s) => s.bufferedBytes,
  );
  gauge('plinth_tsdb_log_bytes', 'Bytes in the files of the log.', (s) => s.logBytes);
  gauge('plinth_tsdb_tables', 'Tables used since the server started.', (s) => s.tableCount);
  gauge('plinth_tsdb_segments', 'Segments that queries read.', (s) => s.segmentCount);
  gauge('plinth_tsdb_segment_bytes', 'Bytes in segments that queries read.', (s) => s.segmentBytes);
  gauge('plinth_tsdb_read_only', '1 after a failed sync: writes are rejected.', (s) =>
    s.isReadOnly ? 1 : 0,
  );
  gauge(
    'plinth_tsdb_column_cache_bytes',
    'Bytes of columns in memory for queries.',
    (s) => s.columnCacheBytes,
  );
  metrics.add({
    name: 'plinth_tsdb_direct_queries_total',
    help: 'Queries served from columns in memory.',
    type: 'counter',
    samples: () => [{ value: read().columnQueries }],
  });
  metrics.add({
    name: 'query_log_phase_current',
    help: 'Queries that are waiting for a slot (received) or running (permit).',
    type: 'gauge',
    labels: ['phase'],
    samples() {
      const { queriesWaiting, queriesRunning } = read();
      return [
        { labels: { phase: 'received' }, value: queriesWaiting },
        { labels: { phase: 'permit' }, value: queriesRunning },
      ];
    },
  });
}

/** Registers the memory limit of each part. Called once per registry. */
export function observeMemory(metrics: Metrics, shares: MemoryShares): void {
  const { columnBytes, duckDbBytes, flushBytes } = shares;
  metrics.add({
    name: 'plinth_tsdb_memory_limit_bytes',
    help: 'Memory limits for columns, DuckDB and unflushed rows.',
    type: 'gauge',
    labels: ['part'],
    samples: () => [
      { labels: { part: 'columns' }, value: columnBytes },
      { labels: { part: 'engine' }, value: duckDbBytes },
      { labels: { part: 'buffer' }, value: flushBytes },
    ],
  });
}

/** Registers the sizes of the caches. Called once per registry. */
export function observeCaches(metrics: Metrics, caches: Caches): void {
  const add = (
    name: string,
    options: { readonly help: string; readonly type: 'gauge' | 'counter' },
    pick: (state: CacheState) => number,
  ): void =>
    metrics.add({
      name,
      ...options,
      labels: ['kind'],
      samples: () =>
        (['last', 'distinct'] as const).map((kind) => ({
          labels: { kind },
          value: pick(caches.state(kind)),
        })),
    });
  add('plinth_tsdb_caches', { help: 'Caches by kind.', type: 'gauge' }, (s) => s.cacheCount);
  add(
    'plinth_tsdb_cache_entries',
    { help: 'Values in caches.', type: 'gauge' },
    (s) => s.entryCount,
  );
  add('plinth_tsdb_cache_bytes', { help: 'Memory of caches.', type: 'gauge' }, (s) => s.sizeBytes);
  add(
    'plinth_tsdb_cache_evictions_total',
    { help: 'Cached values that expired or were evicted.', type: 'counter' },
    (s) => s.evictedCount,
  );
}

/** Registers the state of published tables. */
export function observeOpenTables(metrics: Metrics, openTables: OpenTables): void {
  const { counts } = openTables;
  metrics.gauge({
    name: 'plinth_open_tables_published',
    help: 'Tables with a readable snapshot in an open format.',
    read: () => openTables.publishedCount,
  });
  const counter = (name: string, help: string, read: () => number): void =>
    metrics.add({ name, help, type: 'counter', samples: () => [{ value: read() }] });
  counter(
    'plinth_open_tables_versions_total',
    'Published versions of tables.',
    () => counts.versionCount,
  );
  counter(
    'plinth_open_tables_failures_total',
    'Failed attempts to publish a table, which are retried.',
    () => counts.failureCount,
  );
  counter(
    'plinth_open_tables_uploads_total',
    'Segments uploaded to the bucket.',
    () => counts.uploadCount,
  );
  counter(
    'plinth_open_tables_upload_bytes_total',
    'Bytes of segments uploaded to the bucket.',
    () => counts.uploadBytes,
  );
  metrics.add({
    name: 'plinth_open_tables_publish_duration_seconds',
    help: 'Time to publish one version of a table.',
    type: 'histogram',
    samples: () => counts.durationSec.samples('plinth_open_tables_publish_duration_seconds'),
  });
}

/** Registers the runs of continuous queries and rollups. */
export function observeContinuousQueries(metrics: Metrics, queries: ContinuousQueries): void {
  const counter = (name: string, help: string, read: () => number): void =>
    metrics.add({ name, help, type: 'counter', samples: () => [{ value: read() }] });
  counter(
    'plinth_tsdb_continuous_query_runs_total',
    'Runs of continuous queries and rollups, including failed runs.',
    () => queries.counts.runCount,
  );
  counter(
    'plinth_tsdb_continuous_query_failures_total',
    'Failed runs of continuous queries and rollups, which are retried.',
    () => queries.counts.failureCount,
  );
  metrics.gauge({
    name: 'plinth_tsdb_continuous_query_lag_seconds',
    help: 'Longest delay of a continuous query or rollup that is due.',
    read: () => Number(queries.lagNs) / 1e9,
  });
}

/** Registers the state of live queries. */
export function observeLiveQueries(metrics: Metrics, live: LiveQueries): void {
  metrics.gauge({
    name: 'plinth_tsdb_live_queries',
    help: 'Running live queries.',
    read: () => live.count,
  });
  metrics.add({
    name: 'plinth_tsdb_live_rows_sent_total',
    help: 'Rows sent to live queries.',
    type: 'counter',
    samples: () => [{ value: live.rowCounts.sent }],
  });
  metrics.add({
    name: 'plinth_tsdb_live_rows_dropped_total',
    help: 'Rows not sent to live queries, because their clients read too slowly.',
    type: 'counter',
    samples: () => [{ value: live.rowCounts.dropped }],
  });
}
