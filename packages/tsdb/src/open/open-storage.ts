import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ChecksumThread, type CommitLog } from '@plinth/kernel';
import { CACHE_MIGRATIONS } from '@plinth/tsdb-caches/cache-records.js';
import { qualifiedTableName } from '@plinth/tsdb-catalog/catalog.js';
import { RelationalCatalog } from '@plinth/tsdb-catalog/relational-catalog.js';
import { type CatalogLimits, DEFAULT_CATALOG_LIMITS } from '@plinth/tsdb-model/database/limits.js';
import { TRIGGER_MIGRATIONS } from '@plinth/tsdb-plugins/storage/plugins/trigger-store.js';
import { resultBudgetOf } from '@plinth/tsdb-sql/emit/string-budget.js';
import { registerDuckDbFunctions } from '@plinth/tsdb-sql/functions/index.js';
import { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import { FileSums } from '@plinth/tsdb-storage/segments/file-sums.js';
import { FileVerifier } from '@plinth/tsdb-storage/segments/file-verifier.js';
import { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import { SEGMENT_MIGRATIONS } from '@plinth/tsdb-storage/segments/segment-migrations.js';
import { SegmentRegistry } from '@plinth/tsdb-storage/segments/segment-registry.js';
import { LOG_FOLDER, RECENT_LOG_FOLDER } from '@plinth/tsdb-storage/wal/log-folder.js';
import { describeLostRows } from '@plinth/tsdb-storage/wal/lost-rows.js';
import { writtenMsOf } from '@plinth/tsdb-storage/wal/write-record.js';
import type { TsdbDeps } from '../deps.js';
import { CONTINUOUS_QUERY_MIGRATIONS } from '../domain/continuous-queries/continuous-query-records.js';
import { SAVED_QUERY_MIGRATIONS } from '../domain/saved-queries/saved-queries.js';
import type { reportTo } from '../report-to-log.js';

export async function openCatalog(deps: TsdbDeps): Promise<RelationalCatalog> {
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

export async function openHost(
  { settings, dataDir, fileSystem, duckDbWatch: engineWatch }: TsdbDeps,
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
      registerDuckDbFunctions(connection, resultBudgetOf(memoryLimitBytes, threads)),
    watch: engineWatch,
  });
}

export async function openLog(
  { openLog, dataDir, settings }: TsdbDeps,
  options: { readonly catalog: RelationalCatalog; readonly registry: SegmentRegistry },
): Promise<CommitLog> {
  const { catalog, registry } = options;
  return await openLog({
    folder: join(dataDir, LOG_FOLDER),
    retained: { folder: join(dataDir, RECENT_LOG_FOLDER), maxBytes: settings.live_query_log_bytes },
    nodeUuid: catalog.nodeUuid,
    repair: settings.repair,
    // A flush on a full disk may have left no log file; rows in a new file with an old number would
    // count as flushed.
    firstFile: (await registry.lastFlushedFile()) + 1,
    logCheckpoint: await registry.logCheckpoint(),
    writtenMs: writtenMsOf,
    describe: (payload) => describeLostRows(payload, (id) => qualifiedTableName(catalog, id)),
  });
}

/** Segments with their registry and checksums. */
export function newSegmentStore(
  { fileSystem, objects, relational, random }: TsdbDeps,
  options: {
    readonly duckDb: DuckDbHost;
    readonly tempDir: string;
    readonly report: ReturnType<typeof reportTo>;
  },
) {
  const { duckDb, tempDir, report } = options;
  const checksums = new ChecksumThread();
  const sums = new FileSums(objects, checksums);
  const registry = new SegmentRegistry(relational);
  const onError = (error: unknown): void => report.backgroundFailed(error);
  const files = new SegmentFiles({
    ...{ duckDb, objects, fileSystem, sums, random, tempDir },
    keepsForReaders: (objectName) => registry.published.release(objectName),
    onError,
  });
  const verifier = new FileVerifier({
    ...{ files, sums, fileSystem, registry },
    onError,
  });
  return { files, verifier, registry, checksums };
}

export const limitsOf = (settings: TsdbDeps['settings']): CatalogLimits => ({
  ...DEFAULT_CATALOG_LIMITS,
  databaseCount: settings.num_database_limit,
  tableCount: settings.num_table_limit,
  columnCountPerTable: settings.num_total_columns_per_table_limit,
});
