import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import {
  type BackupMoment,
  type FrozenFiles,
  type Logger,
  machineMemoryBytes,
} from '@plinth/kernel';
import { CacheRecords } from '@plinth/tsdb-caches/cache-records.js';
import { CacheRows } from '@plinth/tsdb-caches/cache-rows.js';
import { Caches } from '@plinth/tsdb-caches/caches.js';
import type { TableFacts } from '@plinth/tsdb-catalog/overview.js';
import type { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import type { Planner } from '@plinth/tsdb-engine/query/query-path.js';
import { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { Influxql } from '@plinth/tsdb-influxql/influxql.js';
import type { Statistic } from '@plinth/tsdb-influxql/show/show-server.js';
import { LiveQueries } from '@plinth/tsdb-live-queries/live-queries.js';
import { StatementRuns } from '@plinth/tsdb-live-queries/statement-runs.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import type { WidePlanner } from '@plinth/tsdb-model/query/wide-plan.js';
import { PublishedBucket } from '@plinth/tsdb-open-tables/bucket/published-bucket.js';
import { SegmentUploads } from '@plinth/tsdb-open-tables/bucket/segment-uploads.js';
import { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import { MetadataTrees } from '@plinth/tsdb-open-tables/publish/metadata-trees.js';
import { PublishCounts } from '@plinth/tsdb-open-tables/publish/publish-counts.js';
import type { WideQueries } from '@plinth/tsdb-open-tables/wide/wide-queries.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { UploadedSegments } from '@plinth/tsdb-storage/segments/uploaded-segments.js';
import type { TsdbDeps } from './deps.js';
import { influxqlWork } from './domain/continuous-queries/compute-influxql.js';
import { checkRollup, sqlWork } from './domain/continuous-queries/compute-sql.js';
import { ContinuousQueries } from './domain/continuous-queries/continuous-queries.js';
import { ContinuousQueryRecords } from './domain/continuous-queries/continuous-query-records.js';
import { Conversions } from './domain/conversions/conversions.js';
import { MetricsRecorder } from './domain/own-metrics/metrics-recorder.js';
import { RefusedWrites } from './domain/refused-writes/refused-writes.js';
import { SavedQueries } from './domain/saved-queries/saved-queries.js';
import { traceQuery } from './domain/system-tables/query-spans.js';
import { logIfSlow } from './domain/system-tables/slow-queries.js';
import { type SystemSources, SystemTables } from './domain/system-tables/system-tables.js';
import { freezeFiles } from './freeze-files.js';
import {
  EngineMetrics,
  observeCaches,
  observeContinuousQueries,
  observeEngine,
  observeLiveQueries,
  observeMemory,
  observeOpenTables,
} from './metrics.js';
import { openInfluxql } from './open/open-influxql.js';
import { newParserPool, readerOf } from './open/open-parser.js';
import { createProcessing, type Processing } from './open/open-processing.js';
import { newSegmentStore, openCatalog, openHost, openLog } from './open/open-storage.js';
import { openWideQueries } from './open/open-wide-queries.js';
import { WarmUp, type WarmUpConsumers } from './open/warm-up.js';
import { reportTo } from './report-to-log.js';
import { type MemoryShares, memoryShares } from './settings/memory-shares.js';

/** Interval at which running queries of revoked tokens and users are canceled. */
const REVOKED_CHECK_MS = 500;
const WARM_UP_DELAY_MS = 500;
/** Limits the transaction of the relational store, for which other transactions wait, to about 10 ms. */
const FLUSH_GROUP_TABLES = 256;
/**
 * A flush of this many tables takes several seconds of writing and syncing. With no more small tables
 * than this, all rows are flushed at their age limit.
 */
const FLUSH_SMALL_TABLES = 64;

/** The components that the routes use. */
export interface OpenTsdb {
  readonly catalog: RelationalCatalog;
  readonly engine: Engine &
    Pick<TsdbEngine, 'background' | 'flushObstacle' | 'freeze' | 'obstacle' | 'storage'>;
  /** See `HttpService`. */
  freeze(moment: BackupMoment): Promise<FrozenFiles>;
  /** Writes the server's own metrics. */
  readonly recorder: MetricsRecorder;
  /** Server statistics, grouped like in InfluxDB 1.x. */
  statistics(): Promise<readonly Statistic[]>;
  readonly influxql: Influxql;
  readonly queryLog: QueryLog;
  readonly savedQueries: SavedQueries;
  readonly facts: TableFacts;
  readonly caches: Caches;
  /**
   * Lets the runtime compile the query code in the background. `consume` reads a result to the end.
   */
  warmUp(consume: WarmUpConsumers): void;
  readonly processing: Processing;
  readonly continuousQueries: ContinuousQueries;
  readonly conversions: Conversions;
  readonly liveQueries: LiveQueries;
  /** Tables in an open format. */
  readonly openTables: OpenTables;
  readonly wideQueries: WideQueries;
  /** See `Tsdb`. */
  readonly usesFolder: boolean;
  close(): Promise<void>;
}

/** Plans SQL for DuckDB and for Trino. */
export interface Planners {
  readonly plan: Planner;
  readonly planWide: WidePlanner;
}

/**
 * Opens the service's storage and recovers; resolves when everything acknowledged can be queried.
 * @param onTablesFound called as soon as tables are found, because queries are then likely.
 */
export async function openTsdb(
  deps: TsdbDeps,
  planners: Planners,
  onTablesFound: () => void = () => undefined,
): Promise<OpenTsdb> {
  const { settings, clock, random, relational } = deps;
  const tempDir = `${deps.dataDir}/tsdb-temp`;
  const shares = memoryShares(settings);
  warnOfLittleMemory(shares, deps.log);
  const [catalog, duckDb] = await Promise.all([
    openCatalog(deps),
    openHost(deps, tempDir, shares.duckDbBytes),
  ]);
  const hasTables = catalog.databases().some(({ tables }) => tables.size > 0);
  if (hasTables) {
    duckDb.prepare(); // in its own threads, while the log is read here
    onTablesFound();
  }
  const startedMs = clock.nowMs();
  const metrics = new EngineMetrics(deps.metrics);
  const queryLog = newQueryLog(deps, metrics);
  const { isCurrent = () => true } = deps;
  const revocationCheck = clock.every(REVOKED_CHECK_MS, () => queryLog.cancelRevoked(isCurrent));
  const caches = newCaches(deps, { catalog, duckDb });
  // The storage engine reports commits and shows triggers, but the processing engine needs the
  // storage engine.
  let processing: Processing | undefined;
  let openTables: OpenTables | undefined;
  let conversions: Conversions | undefined;
  let continuousQueries: ContinuousQueries | undefined;
  let liveQueries: LiveQueries | undefined;
  const refusedWrites = new RefusedWrites(deps);
  const systemTables = newSystemTables(deps, {
    ...{ catalog, caches, queryLog, refusedWrites, startedMs },
    processing: () => processing?.engine,
    continuousQueries: () => continuousQueries,
    openTables: () => openTables,
  });
  const parserPool = newParserPool(deps);
  catalog.whenTablesLeave((tables) => {
    parserPool.clear();
    caches.onTablesDeleted(tables.map(({ id }) => id));
  });
  // Parsers must number known tag sets again; otherwise, writes under the old name would be accepted.
  catalog.whenRenamed(() => parserPool.clear());
  const report = reportTo(deps.log, metrics, refusedWrites);
  const store = newSegmentStore(deps, { duckDb, tempDir, report });
  const { registry, checksums } = store;
  const engine = await TsdbEngine.open({
    catalog,
    commitListener: {
      wants: (databaseId) => processing?.engine.running.wants(databaseId) ?? false,
      committed: (databaseId, rows, depth) =>
        processing?.engine.running.committed(databaseId, rows, depth),
    },
    recordListener: {
      wants: (tableId) => liveQueries?.wants(tableId) ?? false,
      recordDurable: (seq, batches) => liveQueries?.recordDurable(seq, batches),
    },
    log: await openLog(deps, { catalog, registry }),
    duckDb,
    ...store,
    hasSpaceFor: (sizeBytes) => deps.diskSpace?.hasSpaceFor(sizeBytes) ?? true,
    leases: deps.leases,
    clock,
    random,
    deletions: catalog.deletions,
    reader: readerOf(parserPool),
    planner: planners.plan,
    virtualTables: (database, of) => systemTables.of(database, of),
    queryLog,
    settings: engineSettings(deps, shares),
    onRowsDeleted: (tableIds) => {
      caches.rowsDeleted(tableIds);
      conversions?.rowsDeleted(tableIds);
    },
    onTablesRemoved: (tableIds) => openTables?.onTablesRemoved(tableIds),
    report,
  });
  catalog.whenRenamed((schema) => engine.tableStore(schema)); // notes the new version of the table
  await caches.open((schema) => engine.tableStore(schema));
  catalog.replacements.follow(caches.replacementFollower);
  const converting = new Conversions({ catalog, engine, clock, log: deps.log });
  conversions = converting;
  await converting.open();
  const live = newLiveQueries(deps, { catalog, engine, duckDb });
  liveQueries = live;
  const published = await openOpenTables(deps, { catalog, engine, store, duckDb, report });
  openTables = published;
  const wideQueries = openWideQueries(deps, {
    ...{ catalog, engine, queryLog, systemTables, openTables: published },
    planner: planners.planWide,
  });
  observeEngine(deps.metrics, () => engine.state());
  observeMemory(deps.metrics, shares);
  observeCaches(deps.metrics, caches);
  processing = createProcessing(deps, { catalog, engine });
  await processing.engine.open();
  catalog.renames.follow(processing.engine.renameFollower);
  const queries = newContinuousQueries(deps, { catalog, engine, influxql: () => influxql });
  continuousQueries = queries;
  catalog.whenDatabasesLeaveOrReturn(() => {
    processing?.engine.databasesChanged();
    queries.databasesChanged();
    refusedWrites.keepOnly((name) => catalog.database(name) !== undefined);
  });
  const opened = { engine, files: store.files, processing };
  const recorder = startRecorder(deps, engine);
  const { influxql, statistics } = openInfluxql(deps, {
    ...{ catalog, engine, startedMs, continuousQueries: queries },
  });
  await queries.open();
  const warmUp = new WarmUp({
    ...{ engine, influxql, catalog, parserPool, clock, log: deps.log },
    isEnabled: settings.warm_up,
    // Clients of a server with data query immediately, and they query existing tables.
    delayMs: hasTables ? WARM_UP_DELAY_MS : 0,
  });
  return {
    catalog,
    engine,
    influxql,
    caches,
    ...{ queryLog, savedQueries: new SavedQueries(relational, { clock, random }) },
    facts: {
      storageOf: (table) => engine.tableStore(table).storage(),
      seriesCountOf: (table) => engine.tableStore(table).series.index.count,
    },
    warmUp: (consume) => warmUp.start(consume),
    processing,
    continuousQueries: queries,
    conversions: converting,
    liveQueries: live,
    openTables: published,
    wideQueries,
    recorder,
    statistics,
    freeze: (moment) => queries.duringBackup(() => freezeFiles(moment, opened)),
    get usesFolder() {
      return duckDb.isWorking;
    },
    async close() {
      revocationCheck[Symbol.dispose]();
      await converting.close();
      await live.close();
      await queries.close();
      await processing.engine.close();
      await recorder.close();
      caches.close();
      await warmUp.close();
      await wideQueries.close();
      await published.close();
      await engine.close().finally(() => Promise.all([parserPool.close(), checksums.close()]));
    },
  };
}

function newQueryLog(
  { settings, clock, random, currentSpan, log }: TsdbDeps,
  metrics: EngineMetrics,
): QueryLog {
  return new QueryLog({
    ...{ clock, random, currentSpan },
    maxEntryCount: settings.query_log_max_entries,
    onEnded(query) {
      metrics.queryEnded(query);
      if (query.properties.span !== undefined) traceQuery(query, query.properties.span);
      logIfSlow(query, settings.slow_query_ms, log);
    },
  });
}

function newSystemTables(
  { nodeId, tokens, audit }: TsdbDeps,
  options: Omit<SystemSources, 'tokens' | 'audit' | 'node'> & {
    readonly catalog: RelationalCatalog;
    readonly startedMs: number;
  },
): SystemTables {
  const { startedMs, ...sources } = options;
  const coreCount = availableParallelism();
  return new SystemTables({
    ...{ ...sources, tokens, audit },
    node: { nodeId, nodeUuid: options.catalog.nodeUuid, coreCount, startedMs },
  });
}

function newContinuousQueries(
  { relational, clock, log, metrics }: TsdbDeps,
  options: {
    readonly catalog: RelationalCatalog;
    readonly engine: TsdbEngine;
    readonly influxql: () => Influxql;
  },
): ContinuousQueries {
  const { catalog, engine, influxql } = options;
  const queries = new ContinuousQueries({
    ...{ catalog, clock, log },
    records: new ContinuousQueryRecords(relational),
    prepare: (definition, { name: database }) =>
      definition.language === 'influxql'
        ? influxqlWork(definition.text, database, influxql)
        : sqlWork(definition, { database, engine, clock }),
    async check(definition, { name: database }) {
      if (definition.language === 'sql') await checkRollup(definition, { database, engine });
    },
  });
  observeContinuousQueries(metrics, queries);
  return queries;
}

function newLiveQueries(
  { clock, log, metrics, settings, isCurrent = () => true }: TsdbDeps,
  options: {
    readonly catalog: RelationalCatalog;
    readonly engine: TsdbEngine;
    readonly duckDb: DuckDbHost;
  },
): LiveQueries {
  const { catalog, engine, duckDb } = options;
  const onFailed = (err: unknown): void => log.error({ err }, 'background work failed');
  const live = new LiveQueries({
    ...{ engine, catalog, isCurrent, clock, log },
    statements: new StatementRuns(engine, new CacheRows(duckDb, onFailed, 'live_rows')),
    maxCount: settings.max_live_queries,
  });
  observeLiveQueries(metrics, live);
  return live;
}

/** Starts publishing the tables of the configured databases. */
async function openOpenTables(
  deps: TsdbDeps,
  options: {
    readonly catalog: RelationalCatalog;
    readonly engine: TsdbEngine;
    readonly store: ReturnType<typeof newSegmentStore>;
    readonly duckDb: DuckDbHost;
    readonly report: ReturnType<typeof reportTo>;
  },
): Promise<OpenTables> {
  const { openTables: settings, objects, leases, clock, diskSpace } = deps;
  const { catalog, engine, store, duckDb, report } = options;
  const counts = new PublishCounts();
  const bucket = await openPublishedBucket(deps, catalog.clusterUuid, counts);
  const { yielder } = duckDb;
  const root = `file://${dirname(resolve(objects.localPath('open-tables')))}`;
  const localTrees = new MetadataTrees({ objects, yielder, root });
  const openTables = await OpenTables.open({
    ...{ settings, catalog, engine, leases, clock, yielder, localTrees, bucket, counts },
    trees:
      bucket === undefined
        ? localTrees
        : new MetadataTrees({ objects: bucket.store, yielder, root: bucket.store.root }),
    records: store.registry.published,
    files: store.files,
    hasSpaceFor: (sizeBytes) => diskSpace?.hasSpaceFor(sizeBytes) ?? true,
    onError: (error) => report.backgroundFailed(error),
  });
  observeOpenTables(deps.metrics, openTables);
  openTables.start();
  return openTables;
}

/** Resolves when the bucket is probed; `undefined` if tables are published in the data folder. */
async function openPublishedBucket(
  { bucket, objects, relational, clock, random, log }: TsdbDeps,
  clusterUuid: string,
  counts: PublishCounts,
): Promise<PublishedBucket | undefined> {
  if (bucket === undefined) return undefined;
  const { store } = bucket;
  const records = new UploadedSegments(relational, store.root);
  const published = new PublishedBucket({
    ...{ store, clock, random, log },
    uploads: new SegmentUploads({ bucket: store, objects, records, counts }),
    owner: { clusterUuid, folderId: await bucket.folderId() },
  });
  await published.open();
  return published;
}

function startRecorder(
  { metrics, clock, nodeId, log, settings }: TsdbDeps,
  engine: TsdbEngine,
): MetricsRecorder {
  const recorder = new MetricsRecorder({
    ...{ metrics, engine, clock, node: nodeId },
    onFailed: (err) => log.error({ err }, 'background work failed'),
  });
  recorder.start(settings.internal_metrics_interval_ms);
  return recorder;
}

function warnOfLittleMemory({ processNeedsBytes }: MemoryShares, log: Logger): void {
  const memoryBytes = machineMemoryBytes();
  if (memoryBytes >= processNeedsBytes) return;
  log.warn(
    { memoryBytes, neededBytes: processNeedsBytes },
    'low memory: the operating system may kill the server under load; raise the limit or lower tsdb.memory_bytes',
  );
}

function newCaches(
  { settings, relational, clock, log }: TsdbDeps,
  { catalog, duckDb }: { readonly catalog: RelationalCatalog; readonly duckDb: DuckDbHost },
): Caches {
  return new Caches({
    ...{ catalog, duckDb, clock },
    records: new CacheRecords(relational),
    settings: {
      lastEvictionIntervalMs: settings.last_cache_eviction_interval_ms,
      distinctEvictionIntervalMs: settings.distinct_cache_eviction_interval_ms,
      memoryBytes: settings.cache_memory_bytes,
    },
    onFailed: (err) => log.error({ err }, 'background work failed'),
  });
}

const engineSettings = (
  { settings, flushGroupTables, flushSmallTables, cachedRangeRows }: TsdbDeps,
  shares: MemoryShares,
) => ({
  flushBytes: shares.flushBytes,
  flushAgeMs: settings.buffer_flush_age_ms,
  maxGroupTables: flushGroupTables ?? FLUSH_GROUP_TABLES,
  maxSmallTables: flushSmallTables ?? FLUSH_SMALL_TABLES,
  hardLimitBytes: shares.bufferLimitBytes,
  maxConcurrentQueries: settings.max_concurrent_queries,
  queryTimeoutMs: settings.query_timeout_ms,
  retentionCheckIntervalMs: settings.retention_check_interval_ms,
  deleteGraceMs: settings.delete_grace_period_ms,
  columnCacheBytes: shares.columnBytes,
  cachedRangeRows,
  repair: settings.repair,
});
