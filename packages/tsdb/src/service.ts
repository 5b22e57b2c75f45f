import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import {
  type BackupMoment,
  ChecksumThread,
  type CommitLog,
  type FrozenFiles,
  type Logger,
  machineMemoryBytes,
} from '@plinth/kernel';
import type { TableFacts } from '@plinth/tsdb-catalog/overview.js';
import { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import { QueryLog } from '@plinth/tsdb-engine/query/log/query-log.js';
import type { Planner } from '@plinth/tsdb-engine/query/query-path.js';
import { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { BodyReader, ReadBody } from '@plinth/tsdb-engine/write/write-path.js';
import type { Influxql } from '@plinth/tsdb-influxql/influxql.js';
import type { Statistic } from '@plinth/tsdb-influxql/show/show-server.js';
import { DEFAULT_LIMITS } from '@plinth/tsdb-ingest/parser-memory.js';
import { type ParseResult, ParserPool } from '@plinth/tsdb-ingest/workers/parser-pool.js';
import { type CatalogLimits, DEFAULT_CATALOG_LIMITS } from '@plinth/tsdb-model/database/limits.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { OpenTables } from '@plinth/tsdb-open-tables/open-tables.js';
import { MetadataTrees } from '@plinth/tsdb-open-tables/publish/metadata-trees.js';
import { TRIGGER_MIGRATIONS } from '@plinth/tsdb-plugins/storage/plugins/trigger-store.js';
import { answerRoomOf } from '@plinth/tsdb-sql/emit/text-room.js';
import { registerEngineFunctions } from '@plinth/tsdb-sql/functions/index.js';
import { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { FileSums } from '@plinth/tsdb-storage/segments/file-sums.js';
import { KnownFiles } from '@plinth/tsdb-storage/segments/known-files.js';
import { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { SEGMENT_MIGRATIONS } from '@plinth/tsdb-storage/segments/segment-migrations.js';
import { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';
import { LOG_FOLDER } from '@plinth/tsdb-storage/wal/log-folder.js';
import { writtenMsOf } from '@plinth/tsdb-storage/wal/write-record.js';
import type { TsdbDeps } from './deps.js';
import { CACHE_MIGRATIONS, CacheRecords } from './domain/caches/cache-records.js';
import { Caches } from './domain/caches/caches.js';
import { influxqlWork } from './domain/continuous-queries/compute-influxql.js';
import { checkRollup, sqlWork } from './domain/continuous-queries/compute-sql.js';
import { ContinuousQueries } from './domain/continuous-queries/continuous-queries.js';
import {
  CONTINUOUS_QUERY_MIGRATIONS,
  ContinuousQueryRecords,
} from './domain/continuous-queries/continuous-query-records.js';
import { MetricsRecorder } from './domain/own-metrics/metrics-recorder.js';
import { RefusedWrites } from './domain/refused-writes/refused-writes.js';
import { SAVED_QUERY_MIGRATIONS, SavedQueries } from './domain/saved-queries/saved-queries.js';
import { traceQuery } from './domain/system-tables/query-spans.js';
import { logIfSlow } from './domain/system-tables/slow-queries.js';
import { type SystemSources, SystemTables } from './domain/system-tables/system-tables.js';
import { freezeFiles } from './freeze-files.js';
import {
  EngineMetrics,
  observeCaches,
  observeContinuousQueries,
  observeEngine,
  observeMemory,
  observeOpenTables,
} from './metrics.js';
import { openInfluxql } from './open/open-influxql.js';
import { createProcessing, type Processing } from './open/open-processing.js';
import { WarmUp, type WarmUpConsumers } from './open/warm-up.js';
import { reportTo } from './report-to-log.js';
import { type MemoryShares, memoryShares } from './settings/memory-shares.js';

/** Interval at which running queries of revoked tokens and users are canceled. */
const REVOKED_CHECK_MS = 500;
const WARM_UP_DELAY_MS = 500;
/** Limits the catalog transaction, which others wait for, to some 10 ms. */
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
  /** Tables in an open format. */
  readonly openTables: OpenTables;
  /** See `Tsdb`. */
  readonly usesFolder: boolean;
  close(): Promise<void>;
}

/**
 * Opens the service's storage and recovers; resolves when everything acknowledged can be queried.
 * @param onTablesFound called as soon as tables are found, because queries are then likely.
 */
export async function openTsdb(
  deps: TsdbDeps,
  planner: Planner,
  onTablesFound: () => void = () => undefined,
): Promise<OpenTsdb> {
  const { settings, clock, random, relational } = deps;
  const tempDir = `${deps.dataDir}/tsdb-temp`;
  const shares = memoryShares(settings);
  warnOfLittleMemory(shares, deps.log);
  const [catalog, host] = await Promise.all([
    openCatalog(deps),
    openHost(deps, tempDir, shares.duckDbBytes),
  ]);
  const hasTables = catalog.databases().some(({ tables }) => tables.size > 0);
  if (hasTables) {
    host.prepare(); // in its own threads, while the log is read here
    onTablesFound();
  }
  const startedMs = clock.nowMs();
  const metrics = new EngineMetrics(deps.metrics);
  const queryLog = newQueryLog(deps, metrics);
  const { isCurrent = () => true } = deps;
  const revocationCheck = clock.every(REVOKED_CHECK_MS, () => queryLog.cancelRevoked(isCurrent));
  const caches = newCaches(deps, { catalog, host });
  // The storage engine reports commits and shows triggers, but the processing engine needs the
  // storage engine.
  let processing: Processing | undefined;
  let openTables: OpenTables | undefined;
  let continuousQueries: ContinuousQueries | undefined;
  const refusedWrites = new RefusedWrites(deps);
  const systemTables = newSystemTables(deps, {
    ...{ catalog, caches, queryLog, refusedWrites, startedMs },
    processing: () => processing?.engine,
    continuousQueries: () => continuousQueries,
    openTables: () => openTables,
  });
  const parserPool = newParserPool(deps);
  catalog.whenTablesLeave((tables) => {
    parserPool.forget();
    caches.onTablesDeleted(tables.map(({ id }) => id));
  });
  const report = reportTo(deps.log, metrics, refusedWrites);
  const store = newSegmentStore(deps, { host, tempDir, report });
  const { registry, checksums } = store;
  const engine = await TsdbEngine.open({
    catalog,
    commits: {
      wants: (databaseId) => processing?.engine.running.wants(databaseId) ?? false,
      committed: (databaseId, rows, depth) =>
        processing?.engine.running.committed(databaseId, rows, depth),
    },
    log: await openLog(deps, { catalog, registry }),
    host,
    ...store,
    hasRoomFor: (sizeBytes) => deps.room?.hasRoomFor(sizeBytes) ?? true,
    leases: deps.leases,
    clock,
    random,
    deletions: catalog.deletions,
    reader: readerOf(parserPool),
    planner,
    virtualTables: (database, of) => systemTables.of(database, of),
    queryLog,
    settings: engineSettings(deps, shares),
    onRowsDeleted: (tableIds) => caches.rowsDeleted(tableIds),
    onTablesRemoved: (tableIds) => openTables?.onTablesRemoved(tableIds),
    report,
  });
  await caches.open((schema) => engine.tableStore(schema));
  const published = await openOpenTables(deps, { catalog, engine, store, host, report });
  openTables = published;
  observeEngine(deps.metrics, () => engine.state());
  observeMemory(deps.metrics, shares);
  observeCaches(deps.metrics, caches);
  processing = createProcessing(deps, { catalog, engine });
  await processing.engine.open();
  const queries = newContinuousQueries(deps, { catalog, engine, influxql: () => influxql });
  continuousQueries = queries;
  catalog.whenDatabasesLeaveOrReturn(() => {
    processing?.engine.databasesChanged();
    queries.databasesChanged();
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
      placesOf: (table) => engine.tableStore(table).places(),
      seriesCountOf: (table) => engine.tableStore(table).series.index.count,
    },
    warmUp: (consume) => warmUp.start(consume),
    processing,
    continuousQueries: queries,
    openTables: published,
    recorder,
    statistics,
    freeze: (moment) => queries.duringBackup(() => freezeFiles(moment, opened)),
    get usesFolder() {
      return host.isWorking;
    },
    async close() {
      revocationCheck[Symbol.dispose]();
      await queries.close();
      await processing.engine.close();
      await recorder.close();
      caches.close();
      await warmUp.close();
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
      if (query.facts.span !== undefined) traceQuery(query, query.facts.span);
      logIfSlow(query, settings.slow_query_ms, log);
    },
  });
}

function newSystemTables(
  { nodeId, tokens, audit }: TsdbDeps,
  at: Omit<SystemSources, 'tokens' | 'audit' | 'node'> & {
    readonly catalog: RelationalCatalog;
    readonly startedMs: number;
  },
): SystemTables {
  const { startedMs, ...sources } = at;
  const coreCount = availableParallelism();
  return new SystemTables({
    ...{ ...sources, tokens, audit },
    node: { nodeId, nodeUuid: at.catalog.nodeUuid, coreCount, startedMs },
  });
}

function newContinuousQueries(
  { relational, clock, log, metrics }: TsdbDeps,
  at: {
    readonly catalog: RelationalCatalog;
    readonly engine: TsdbEngine;
    readonly influxql: () => Influxql;
  },
): ContinuousQueries {
  const { catalog, engine, influxql } = at;
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

/** Segments with their registry and checksums. */
function newSegmentStore(
  { fileSystem, objects, relational, random }: TsdbDeps,
  at: {
    readonly host: DuckDbHost;
    readonly tempDir: string;
    readonly report: ReturnType<typeof reportTo>;
  },
) {
  const { host, tempDir, report } = at;
  const checksums = new ChecksumThread();
  const sums = new FileSums(objects, checksums);
  const registry = new SegmentRegistry(relational);
  const files = new SegmentFiles({
    ...{ host, objects, fileSystem, sums, random, tempDir },
    release: (objectName) => registry.published.release(objectName),
  });
  const known = new KnownFiles({
    ...{ files, sums, fileSystem, registry },
    onError: (error) => report.backgroundFailed(error),
  });
  return { files, known, registry, checksums };
}

/** Starts publishing the tables of the configured databases. */
async function openOpenTables(
  deps: TsdbDeps,
  at: {
    readonly catalog: RelationalCatalog;
    readonly engine: TsdbEngine;
    readonly store: ReturnType<typeof newSegmentStore>;
    readonly host: DuckDbHost;
    readonly report: ReturnType<typeof reportTo>;
  },
): Promise<OpenTables> {
  const { openTables: settings, objects, leases, clock, room } = deps;
  const { catalog, engine, store, host, report } = at;
  const { yielder } = host;
  const root = `file://${dirname(resolve(objects.localPath('open-tables')))}`;
  const openTables = await OpenTables.open({
    ...{ settings, catalog, engine, leases, clock, yielder },
    trees: new MetadataTrees({ objects, yielder, root }),
    records: store.registry.published,
    files: store.files,
    hasRoomFor: (sizeBytes) => room?.hasRoomFor(sizeBytes) ?? true,
    onError: (error) => report.backgroundFailed(error),
  });
  observeOpenTables(deps.metrics, openTables);
  openTables.start();
  return openTables;
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

async function openLog(
  { openLog, dataDir, settings }: TsdbDeps,
  at: { readonly catalog: RelationalCatalog; readonly registry: SegmentRegistry },
): Promise<CommitLog> {
  const { catalog, registry } = at;
  return await openLog({
    folder: join(dataDir, LOG_FOLDER),
    nodeUuid: catalog.nodeUuid,
    repair: settings.repair,
    // A flush on a full disk may have left no log file; rows in a new file with an old number would
    // count as flushed.
    firstFile: (await registry.lastFlushedFile()) + 1,
    catalog: await registry.logCatalog(),
    writtenMs: writtenMsOf,
  });
}

function readBody({ workerId, parsed, body, release }: ParseResult): ReadBody {
  return { parserId: workerId, parsed, body, release };
}

function warnOfLittleMemory({ processNeedsBytes }: MemoryShares, log: Logger): void {
  const memoryBytes = machineMemoryBytes();
  if (memoryBytes >= processNeedsBytes) return;
  log.warn(
    { memoryBytes, neededBytes: processNeedsBytes },
    'low memory: the operating system may kill the server under load; raise the limit or lower tsdb.memory_bytes',
  );
}

const limitsOf = (settings: TsdbDeps['settings']): CatalogLimits => ({
  ...DEFAULT_CATALOG_LIMITS,
  databaseCount: settings.num_database_limit,
  tableCount: settings.num_table_limit,
  columnCountPerTable: settings.num_total_columns_per_table_limit,
});

function newCaches(
  { settings, relational, clock, log }: TsdbDeps,
  { catalog, host }: { readonly catalog: RelationalCatalog; readonly host: DuckDbHost },
): Caches {
  return new Caches({
    ...{ catalog, host, clock },
    records: new CacheRecords(relational),
    settings: {
      lastEvictionIntervalMs: settings.last_cache_eviction_interval_ms,
      distinctEvictionIntervalMs: settings.distinct_cache_eviction_interval_ms,
      memoryBytes: settings.cache_memory_bytes,
    },
    onFailed: (err) => log.error({ err }, 'background work failed'),
  });
}

function newParserPool({ settings, random }: TsdbDeps): ParserPool {
  const { columnCountPerTable: columnCount, tagCountPerTable: tagCount } = limitsOf(settings);
  return new ParserPool({
    hashSeed: Math.floor(random.float() * 2 ** 32) | 0,
    limits: { ...DEFAULT_LIMITS, line: { columnCount, tagCount } },
  });
}

/** Parses small bodies synchronously. */
function readerOf(parserPool: ParserPool): BodyReader {
  return {
    read(request) {
      const now = parserPool.parseNow(request.body, request);
      if (now !== undefined) return readBody(now);
      // A worker receives the options by structured clone: `access` cannot be cloned, and the
      // worker does not need it.
      const { body, access: _, ...options } = request;
      return parserPool.parse(body, options).then(readBody);
    },
  };
}

const engineSettings = (
  { settings, flushGroupTables, flushSmallTables, segmentUnitRows }: TsdbDeps,
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
  segmentUnitRows,
  repair: settings.repair,
});

async function openCatalog(deps: TsdbDeps): Promise<RelationalCatalog> {
  const { settings, relational, clock, random } = deps;
  // Together with the catalog's own migrations, in one commit.
  const tables = [
    relational.migrate('tsdb_segments', SEGMENT_MIGRATIONS),
    relational.migrate('tsdb_caches', CACHE_MIGRATIONS),
    relational.migrate('tsdb_triggers', TRIGGER_MIGRATIONS),
    relational.migrate('tsdb_saved_queries', SAVED_QUERY_MIGRATIONS),
    relational.migrate('tsdb_continuous_queries', CONTINUOUS_QUERY_MIGRATIONS),
  ];
  const opening = RelationalCatalog.open({
    store: relational,
    clock,
    random,
    limits: limitsOf(settings),
    hardDeleteDefaultMs: settings.hard_delete_default_duration_ms,
    report: deps.report,
  });
  const [catalog] = await Promise.all([opening, ...tables]);
  return catalog;
}

async function openHost(
  { settings, dataDir, fileSystem, engineWatch }: TsdbDeps,
  tempDir: string,
  memoryLimitBytes: number,
): Promise<DuckDbHost> {
  await fileSystem.removeTree(tempDir);
  await fileSystem.makeDirectory(tempDir);
  const threads = settings.query_threads || availableParallelism();
  return new DuckDbHost({
    dataDir,
    spillDir: `${tempDir}/spill`,
    memoryLimitBytes,
    threads,
    idleConnections: 8,
    register: (connection) =>
      registerEngineFunctions(connection, answerRoomOf(memoryLimitBytes, threads)),
    watch: engineWatch,
  });
}
