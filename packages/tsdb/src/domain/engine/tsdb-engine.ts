import type { Clock, CommitLog, Leases, Random } from '@plinth/kernel';
import { ShuttingDown } from '../../errors.js';
import type { ResultStream } from '../../model/result.js';
import { MIN_TIME_NS } from '../../model/scan.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import type { DuckDbHost } from '../../storage/duckdb/duckdb-host.js';
import type { Segment } from '../../storage/segments/segment.js';
import type { FileDamaged, SegmentFiles } from '../../storage/segments/segment-files.js';
import type { SegmentRegistry } from '../../storage/segments/segment-registry.js';
import type { Catalog } from '../catalog/catalog.js';
import type { CatalogDeletions } from '../catalog/catalog-deletions.js';
import type { VirtualTables } from '../sql/planned-query.js';
import type { SegmentsOf } from '../system-tables/parquet-files.js';
import type { QueryLog } from '../system-tables/query-log.js';
import type { CommitListener } from './commit-listener.js';
import { Compactor } from './compactor.js';
import { ColumnCache } from './direct/column-cache.js';
import { ColumnPreload } from './direct/column-preload.js';
import type {
  Engine,
  ParquetFile,
  QueryRequest,
  QueryShape,
  WriteOutcome,
  WriteRequest,
} from './engine.js';
import { Flusher, type FlushSettings } from './flusher.js';
import { HardDeletions } from './hard-deletions.js';
import { openTable, replayLog } from './open-tables.js';
import { type Planner, QueryPath } from './query-path.js';
import type { QuerySession, SessionRequest } from './query-session.js';
import { removeDamaged } from './remove-damaged.js';
import { Retention } from './retention.js';
import { type DeleteRowsRequest, RowDeletions } from './row-deletions.js';
import { type StoredFile, TableStore } from './table-store.js';
import { visibleFrom } from './visible-from.js';
import { WriteBuffer } from './write-buffer.js';
import { type BodyReader, WritePath } from './write-path.js';

export interface EngineNeeds {
  /** Hears of rows when they are durable. */
  readonly commits?: CommitListener;
  readonly catalog: Catalog;
  readonly log: CommitLog;
  readonly host: DuckDbHost;
  readonly files: SegmentFiles;
  readonly registry: SegmentRegistry;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly deletions: CatalogDeletions;
  readonly reader: BodyReader;
  readonly planner: Planner;
  readonly virtualTables: (database: DatabaseSchema, segmentsOf: SegmentsOf) => VirtualTables;
  readonly queryLog: QueryLog;
  readonly settings: FlushSettings & {
    readonly hardLimitBytes: number;
    readonly maxConcurrentQueries: number;
    /** 0: none. */
    readonly queryTimeoutMs: number;
    readonly retentionCheckIntervalMs: number;
    /** So long something without data is still listed. */
    readonly deleteGraceMs: number;
    /** Memory of decoded columns; 0: none, every query is the engine's. */
    readonly columnCacheBytes: number;
    /** Go on without damaged segments. */
    readonly repair: boolean;
  };
  /** Rows of these tables were deleted. */
  readonly onRowsDeleted: (tableIds: readonly number[]) => void;
  readonly report: EngineReport;
}

/** What happens in the background, for logs and metrics. */
export interface EngineReport {
  flushed(durationMs: number): void;
  flushFailed(error: unknown, retryMs: number): void;
  compacted(): void;
  backgroundFailed(error: unknown): void;
  indexRebuilt(error: FileDamaged): void;
  segmentLost(segment: Segment, table: string, error: FileDamaged): void;
  unknownFilesRemoved(names: readonly string[]): void;
  replayed(rowCount: number): void;
}

/** The engine at one moment. */
export interface EngineState {
  /** Rows that are not in segments yet. */
  readonly bufferedBytes: number;
  readonly logBytes: number;
  readonly isReadOnly: boolean;
  readonly tableCount: number;
  readonly segmentCount: number;
  readonly segmentBytes: number;
  readonly queriesWaiting: number;
  readonly queriesRunning: number;
  /** Queries answered from columns in memory. */
  readonly directQueries: number;
  readonly columnCacheBytes: number;
}

/** After the start the series of all tables are read; who needs them before that has them read at once. */
const INDEX_DELAY_MS = 500;

/** A close waits so long for running queries. */
const LONGEST_QUERY_WAIT_MS = 5000;

/** The time-series engine of one node: writes go through the log into memory and from there into segments. */
export class TsdbEngine implements Engine {
  readonly #needs: EngineNeeds;
  readonly #tables = new Map<number, TableStore>();
  readonly #columnCache: ColumnCache;
  readonly #columnPreload: ColumnPreload;
  readonly #buffer: WriteBuffer;
  readonly #writes: WritePath;
  readonly #queries: QueryPath;
  readonly #flusher: Flusher;
  readonly #compactor: Compactor;
  readonly #rowDeletions: RowDeletions;
  readonly #retention: Retention;
  readonly #hardDeletions: HardDeletions;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #writesUnderWay = 0;
  #onIdle: (() => void) | undefined;
  readonly #closing = new AbortController();
  #indexing: Promise<void> | undefined;

  /** Recovers what was written before; resolves when every acknowledged row can be queried. */
  static async open(needs: EngineNeeds): Promise<TsdbEngine> {
    const engine = new TsdbEngine(needs);
    await engine.#recover();
    engine.#flusher.start();
    engine.#compactor.start();
    engine.#retention.start();
    engine.#hardDeletions.start();
    engine.#columnPreload.start();
    engine.#indexing = engine.#indexTables();
    return engine;
  }

  private constructor(needs: EngineNeeds) {
    this.#needs = needs;
    const { catalog, host, files, registry, leases, clock, report } = needs;
    this.#columnCache = new ColumnCache({
      limitBytes: needs.settings.columnCacheBytes,
      nowMs: () => clock.monotonicMs(),
    });
    const storeOf = (schema: TableSchema): TableStore => this.#storeOf(schema);
    this.#buffer = new WriteBuffer({
      log: needs.log,
      clock,
      hardLimitBytes: needs.settings.hardLimitBytes,
    });
    this.#columnPreload = new ColumnPreload({
      tables: () => this.#tables.values(),
      cache: this.#columnCache,
      clock,
      writeIdleMs: () => this.#buffer.idleMs,
      isFlushNear: () => this.#flusher.isNear,
      onFailed: (error) => report.backgroundFailed(error),
    });
    this.#writes = new WritePath({
      reader: needs.reader,
      catalog,
      buffer: this.#buffer,
      storeOf,
      commits: needs.commits,
      turns: host.turns,
    });
    this.#queries = new QueryPath({
      catalog,
      host,
      files,
      planner: needs.planner,
      storeOf,
      virtualTables: (database) =>
        needs.virtualTables(database, (tableId) => this.#segmentsOf(tableId)),
      queryLog: needs.queryLog,
      nowNs: () => clock.nowNs(),
      maxConcurrentQueries: needs.settings.maxConcurrentQueries,
      queryTimeoutMs: needs.settings.queryTimeoutMs,
    });
    const visibleFromNs = (store: TableStore): bigint => this.#visibleFromNs(store);
    this.#rowDeletions = new RowDeletions({
      catalog,
      registry,
      buffer: this.#buffer,
      random: needs.random,
      storeOf: (schema) => this.#tables.get(schema.id),
    });
    this.#retention = new Retention({
      tables: () => this.#tables.values(),
      visibleFromNs,
      registry,
      leases,
      clock,
      intervalMs: needs.settings.retentionCheckIntervalMs,
      onFailed: (error) => report.backgroundFailed(error),
    });
    this.#hardDeletions = new HardDeletions({
      deletions: needs.deletions,
      registry,
      store: (tableId) => this.#tables.get(tableId),
      forget: (tableIds) => this.#forgetTables(tableIds),
      leases,
      clock,
      graceMs: needs.settings.deleteGraceMs,
      onFailed: (error) => report.backgroundFailed(error),
    });
    this.#compactor = new Compactor({
      tables: () => this.#tables.values(),
      host,
      files,
      registry,
      leases,
      clock,
      visibleFromNs,
      onMerged: () => report.compacted(),
      onFailed: (error) => report.backgroundFailed(error),
    });
    this.#flusher = new Flusher({
      buffer: this.#buffer,
      tables: () => this.#tables.values(),
      host,
      files,
      registry,
      leases,
      clock,
      settings: needs.settings,
      onFailed: (error, retryMs) => report.flushFailed(error, retryMs),
      onFlushed: (durationMs) => {
        report.flushed(durationMs);
        this.#compactor.compactWhenDue();
      },
    });
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    if (this.#state !== 'open') throw new ShuttingDown();
    this.#writesUnderWay++;
    try {
      const outcome = await this.#writes.write(request);
      this.#flusher.flushWhenDue();
      return outcome;
    } finally {
      this.#writesUnderWay--;
      if (this.#writesUnderWay === 0) this.#onIdle?.();
    }
  }

  async describe(request: Omit<QueryRequest, 'signal'>): Promise<QueryShape> {
    if (this.#state !== 'open') throw new ShuttingDown();
    return await this.#queries.describe(request);
  }

  async query(request: QueryRequest): Promise<ResultStream> {
    if (this.#state !== 'open') throw new ShuttingDown();
    return await this.#queries.query(request);
  }

  async openSession(request: SessionRequest): Promise<QuerySession> {
    if (this.#state !== 'open') throw new ShuttingDown();
    // It may ask for the series of any table.
    for (const store of this.#tables.values()) {
      const indexing = store.whenIndexed();
      if (indexing !== undefined) await indexing;
    }
    return await this.#queries.openSession(request);
  }

  async queryToParquet(request: QueryRequest): Promise<ParquetFile> {
    if (this.#state !== 'open') throw new ShuttingDown();
    return await this.#queries.queryToParquet(request);
  }

  async deleteRows(request: DeleteRowsRequest): Promise<void> {
    if (this.#state !== 'open') throw new ShuttingDown();
    const tableIds = await this.#rowDeletions.delete(request);
    if (tableIds.length === 0) return;
    this.#needs.onRowsDeleted(tableIds);
    this.#compactor.compactWhenDue();
  }

  removeDeletedSoon(): void {
    if (this.#state === 'open') this.#hardDeletions.checkSoon();
  }

  /**
   * Everything acknowledged before the call as files, which stay until `release`. `snapshot` copies the catalog: it runs
   * while neither flush nor compaction changes which files there are.
   */
  async freeze(
    snapshot: () => Promise<void>,
  ): Promise<{ readonly files: readonly StoredFile[]; release(): void }> {
    if (this.#state !== 'open') throw new ShuttingDown();
    return await this.#flusher.flushThen(() =>
      this.#compactor.pauseFor(async () => {
        const pinned = [...this.#tables.values()].map((store) => store.pinFiles());
        const release = (): void => {
          for (const each of pinned.splice(0)) each.release();
        };
        const files = pinned.flatMap((each) => each.files);
        try {
          await snapshot();
        } catch (error) {
          release();
          throw error;
        }
        return { files, release };
      }),
    );
  }

  /** What the node holds of a table; made when nothing was written to it yet. */
  tableStore(schema: TableSchema): TableStore {
    return this.#storeOf(schema);
  }

  /** Bytes of rows that are not in segments yet. */
  get bufferedBytes(): number {
    return this.#buffer.sizeBytes;
  }

  /** Deletions of rows that are not carried out in all files yet. */
  get waitingDeletionCount(): number {
    let count = 0;
    for (const { tombstones } of this.#tables.values()) count += tombstones.count;
    return count;
  }

  /** Since the last write, 0 while one is under way; since the start when there was none. */
  get writeIdleMs(): number {
    return this.#writesUnderWay > 0 ? 0 : this.#buffer.idleMs;
  }

  get isReadOnly(): boolean {
    return this.#buffer.isReadOnly;
  }

  get segmentCount(): number {
    let count = 0;
    for (const store of this.#tables.values()) count += store.segments.length;
    return count;
  }

  /** Visits every segment: for people who look, not for hot paths. */
  state(): EngineState {
    let segmentBytes = 0;
    for (const { segments } of this.#tables.values())
      for (const { segment } of segments) segmentBytes += segment.sizeBytes;
    return {
      bufferedBytes: this.bufferedBytes,
      logBytes: this.#needs.log.sizeBytes,
      isReadOnly: this.isReadOnly,
      tableCount: this.#tables.size,
      segmentCount: this.segmentCount,
      segmentBytes,
      queriesWaiting: this.#queries.waitingCount,
      queriesRunning: this.#queries.runningCount,
      directQueries: this.#queries.directCount,
      columnCacheBytes: this.#columnCache.sizeBytes,
    };
  }

  /** Takes no more writes, finishes those under way and flushes, so that the next start has nothing to replay. */
  async close(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    if (this.#writesUnderWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    this.#closing.abort();
    await this.#indexing;
    await this.#columnPreload.close();
    await this.#hardDeletions.close();
    await this.#retention.close();
    await this.#compactor.close();
    await this.#flusher.close();
    if (!this.#buffer.isReadOnly) {
      // A flush that fails here loses nothing: the log still has the rows.
      await this.#flusher
        .flushAll()
        .catch((error: unknown) => this.#needs.report.flushFailed(error, 0));
    }
    await this.#queriesEnded();
    for (const store of this.#tables.values()) await store.series.indexingEnded();
    this.#state = 'closed';
    await this.#needs.log.close();
    await this.#needs.host.close();
  }

  /** Queries that began before the close may end; what takes too long fails with the engine's own end. */
  async #queriesEnded(): Promise<void> {
    const { clock } = this.#needs;
    const latestMs = clock.monotonicMs() + LONGEST_QUERY_WAIT_MS;
    while (this.#queries.runningCount > 0 && clock.monotonicMs() < latestMs) await clock.sleep(5);
  }

  /** One table after the other: what comes in meanwhile waits for its own table alone. */
  async #indexTables(): Promise<void> {
    const { signal } = this.#closing;
    await this.#needs.clock.sleep(INDEX_DELAY_MS, signal).catch(() => undefined); // It is closing.
    for (const store of this.#tables.values()) {
      if (signal.aborted) return;
      await store.whenIndexed()?.catch((error) => this.#needs.report.backgroundFailed(error));
    }
  }

  async #recover(): Promise<void> {
    const { catalog, files, registry, host, log, report } = this.#needs;
    if (this.#needs.settings.repair) {
      const tableName = (id: number): string => catalog.keptTableById(id)?.name ?? '';
      await removeDamaged({ registry, files, report, tableName });
    }
    const { segments, seriesFiles, flushedFile, tombstones } = await registry.load();
    const known = new Set([...segments, ...seriesFiles].map((file) => file.objectName));
    const unknown = await files.removeUnknown(known);
    if (unknown.length > 0) report.unknownFilesRemoved(unknown);
    const tableIds = new Set([...segments, ...seriesFiles].map((file) => file.tableId));
    for (const tableId of tableIds) {
      const schema = catalog.keptTableById(tableId);
      if (schema === undefined) continue;
      await openTable({
        store: this.#storeOf(schema),
        segments: segments.filter((segment) => segment.tableId === tableId),
        seriesFiles: seriesFiles.filter((file) => file.tableId === tableId),
        host,
        files,
        onIndexRebuilt: (error) => report.indexRebuilt(error),
      });
    }
    for (const segment of segments) this.#buffer.noteSeq(segment.maxSeq);
    for (const tombstone of tombstones) {
      this.#buffer.noteSeq(tombstone.seq);
      const schema = catalog.keptTableById(tombstone.tableId);
      if (schema !== undefined) this.#storeOf(schema).tombstones.load([tombstone]);
    }
    const rowCount = await replayLog({
      log,
      flushedFile,
      buffer: this.#buffer,
      storeOf: (tableId) => {
        const schema = catalog.keptTableById(tableId);
        return schema === undefined ? undefined : this.#storeOf(schema);
      },
    });
    if (flushedFile >= 0) await log.seal(flushedFile);
    if (rowCount > 0) report.replayed(rowCount);
  }

  /** Deleted tables keep what they have: they may come back. */
  #visibleFromNs(store: TableStore): bigint {
    const { catalog, clock } = this.#needs;
    const table = catalog.tableById(store.tableId);
    const database = table && catalog.databaseById(table.databaseId);
    if (database === undefined || table === undefined) return MIN_TIME_NS;
    return visibleFrom(database, table, clock.nowNs());
  }

  /** Their rows are out of memory and files; a flush takes them out of the log. */
  #forgetTables(tableIds: readonly number[]): void {
    for (const id of tableIds) {
      this.#tables.delete(id);
      this.#buffer.forgetTable(id);
    }
    this.#flusher.flushSoon();
  }

  #segmentsOf(tableId: number): readonly Segment[] {
    return this.#tables.get(tableId)?.segments.map((open) => open.segment) ?? [];
  }

  #storeOf(schema: TableSchema): TableStore {
    let store = this.#tables.get(schema.id);
    if (store === undefined) {
      store = new TableStore({
        schema,
        host: this.#needs.host,
        files: this.#needs.files,
        cache: this.#columnCache,
        onError: (error) => this.#needs.report.backgroundFailed(error),
      });
      this.#tables.set(schema.id, store);
    } else if (schema.version > store.schema.version) {
      store.schema = schema;
    }
    return store;
  }
}
