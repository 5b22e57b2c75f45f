import type { BackupMoment } from '@plinth/kernel';
import type { ResultStream } from '@plinth/tsdb-model/columns/result.js';
import type {
  DeletePointsRequest,
  DeleteRowsRequest,
  Engine,
  ParquetFile,
  QueryRequest,
  WriteOutcome,
  WriteRequest,
} from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PlannedQuery } from '@plinth/tsdb-model/query/planned-query.js';
import type { QuerySession, SessionRequest } from '@plinth/tsdb-model/query/query-session.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { BackgroundWork } from './background-work.js';
import { ColumnCache } from './columns/cache/column-cache.js';
import { RowDeletions } from './deletion/row-deletions.js';
import type { EngineDeps } from './engine-deps.js';
import type { EngineState } from './engine-state.js';
import { EngineStorage } from './engine-storage.js';
import { EngineTables } from './engine-tables.js';
import { RetainedLog } from './live/retained-log.js';
import { QueryPath } from './query/query-path.js';
import { recoverTables } from './recovery/recover-tables.js';
import type { StoredFile, TableStore } from './table/table-store.js';
import { WritePath } from './write/write-path.js';
import { WriteSequencer } from './write/write-sequencer.js';

/** Maximum time that `close` waits for running queries. */
const LONGEST_QUERY_WAIT_MS = 5000;

export interface FrozenEngine {
  /** The files are kept until `release`. */
  readonly objects: readonly StoredFile[];
  /** File names within the backup folder. */
  readonly logFiles: readonly string[];
  /** Calling it twice is harmless. */
  release(): void;
}

/**
 * The storage engine of one node: writes go through the log into memory, and from there into
 * segments.
 */
export class TsdbEngine implements Engine {
  readonly #deps: EngineDeps;
  readonly #tables: EngineTables;
  readonly #columnCache: ColumnCache;
  readonly #sequencer: WriteSequencer;
  readonly #writes: WritePath;
  readonly #queries: QueryPath;
  readonly #rowDeletions: RowDeletions;
  readonly background: BackgroundWork;
  /** Reads rows again from the log, for live queries that have missed some. */
  readonly retainedLog: RetainedLog;
  readonly storage: EngineStorage;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #writesUnderWay = 0;
  #onIdle: (() => void) | undefined;

  /** Recovers earlier writes; resolves when every acknowledged row can be queried. */
  static async open(deps: EngineDeps): Promise<TsdbEngine> {
    const engine = new TsdbEngine(deps);
    await recoverTables(deps, {
      tables: engine.#tables,
      sequencer: engine.#sequencer,
      flusher: engine.background.flusher,
      retainedLog: engine.retainedLog,
    });
    engine.background.start();
    engine.#tables.startIndexing();
    return engine;
  }

  private constructor(deps: EngineDeps) {
    this.#deps = deps;
    const { catalog, log, duckDb, files, clock, settings } = deps;
    const columnCache = new ColumnCache({
      limitBytes: settings.columnCacheBytes,
      nowMs: () => clock.monotonicMs(),
      cachedRangeRows: settings.cachedRangeRows,
    });
    const tables = new EngineTables(deps, columnCache);
    const storeOf = (schema: TableSchema): TableStore => tables.storeOf(schema);
    const sequencer = new WriteSequencer({
      ...{ log, clock, hardLimitBytes: settings.hardLimitBytes },
      onRowsRefused: deps.onRowsDeleted,
      listener: deps.recordListener,
    });
    this.retainedLog = new RetainedLog({ log, sequencer, storeOf: (id) => tables.find(id) });
    this.#columnCache = columnCache;
    this.#tables = tables;
    this.#sequencer = sequencer;
    this.#writes = new WritePath({
      reader: deps.reader,
      catalog,
      sequencer,
      storeOf,
      commitListener: deps.commitListener,
      yielder: duckDb.yielder,
    });
    this.#queries = new QueryPath({
      catalog,
      duckDb,
      files,
      planner: deps.planner,
      storeOf,
      virtualTables: (database, access) =>
        deps.virtualTables(database, {
          access,
          segmentsOf: (tableId) => tables.segmentsOf(tableId),
        }),
      queryLog: deps.queryLog,
      nowNs: () => clock.nowNs(),
      maxConcurrentQueries: settings.maxConcurrentQueries,
      queryTimeoutMs: settings.queryTimeoutMs,
    });
    const onTablesRemoved = (tableIds: readonly number[]): void => {
      void this.#clearRetained(tableIds);
      deps.onTablesRemoved?.(tableIds);
    };
    this.background = new BackgroundWork(
      { ...deps, onTablesRemoved },
      { tables, sequencer, columnCache },
    );
    this.storage = new EngineStorage({ sequencer, background: this.background, storeOf });
    this.#rowDeletions = new RowDeletions({
      catalog,
      segmentCommits: this.background.segmentCommits,
      sequencer,
      random: deps.random,
      clock,
      storeOf: (schema) => tables.find(schema.id),
    });
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    this.#assertOpen();
    this.#writesUnderWay++;
    try {
      const outcome = await this.#writes.write(request);
      if (outcome.refused.length > 0) this.#deps.report.rowsRefused(request, outcome);
      this.background.flusher.flushWhenDue();
      return outcome;
    } finally {
      this.#writesUnderWay--;
      if (this.#writesUnderWay === 0) this.#onIdle?.();
    }
  }

  /** See `DatabaseWriteLock.exclusive`. */
  async withoutWrites<T>(database: string, work: () => Promise<T>): Promise<T> {
    return await this.#writes.writeLock.exclusive(database, work);
  }

  async describe(request: Omit<QueryRequest, 'signal'>): Promise<PlannedQuery> {
    this.#assertOpen();
    return await this.#queries.describe(request);
  }

  async query(request: QueryRequest): Promise<ResultStream> {
    this.#assertOpen();
    return await this.#queries.query(request);
  }

  async openSession(request: SessionRequest): Promise<QuerySession> {
    this.#assertOpen();
    return await this.#queries.openSession(request);
  }

  async queryToParquet(request: QueryRequest): Promise<ParquetFile> {
    this.#assertOpen();
    return await this.#queries.queryToParquet(request);
  }

  async deleteRows(request: DeleteRowsRequest): Promise<void> {
    this.#assertOpen();
    await this.#delete(request.database, () => this.#rowDeletions.delete(request));
  }

  async deletePoints(request: DeletePointsRequest): Promise<void> {
    this.#assertOpen();
    await this.#delete(request.database, () => this.#rowDeletions.deletePoints(request));
  }

  async #delete(database: string, work: () => Promise<readonly number[]>): Promise<void> {
    const { onRowsDeleted } = this.#deps;
    const tableIds = await this.#writes.writeLock.shared(database, async () => {
      const found = await work();
      // Called before a change that must know every deletion can acquire the lock.
      if (found.length > 0) onRowsDeleted(found);
      return found;
    });
    if (tableIds.length === 0) return;
    await this.#clearRetained(tableIds);
    void this.background.compactor.compactWhenDue();
  }

  /** The rows are deleted already, so a failure concerns only the retained log files. */
  async #clearRetained(tableIds: readonly number[]): Promise<void> {
    const { report } = this.#deps;
    await this.retainedLog.rowsDeleted(tableIds).catch((error) => report.backgroundFailed(error));
  }

  removeDeletedSoon(): void {
    if (this.#state === 'open') this.background.hardDeletions.checkSoon();
  }

  /**
   * Returns a consistent snapshot as files: segments, and the log for rows not in segments. The log
   * starts a new file before the store is copied, and no segments are registered in the meantime.
   * The backup contains everything acknowledged before that, and no data that depends on missing
   * data.
   */
  async freeze({ copyStore, folder }: BackupMoment): Promise<FrozenEngine> {
    this.#assertOpen();
    return await this.background.segmentCommits.whileConsistent(async () => {
      const pinned = [...this.#tables.values()].map((store) => store.pinFiles());
      const release = (): void => {
        for (const each of pinned.splice(0)) each.release();
      };
      const objects = pinned.flatMap((each) => each.files);
      try {
        const { log } = this.#deps;
        const [lastFile] = await Promise.all([log.rotate(), copyStore()]);
        return { objects, logFiles: await log.linkFiles(lastFile, folder), release };
      } catch (error) {
        release();
        throw error;
      }
    });
  }

  /** Returns the table's store; created if nothing was written to it yet. */
  tableStore(schema: TableSchema): TableStore {
    return this.#tables.storeOf(schema);
  }

  /** Size of the rows that are not in segments yet, in bytes. */
  get bufferedBytes(): number {
    return this.#sequencer.sizeBytes;
  }

  /** Row deletions that have not been carried out in all files yet. */
  get waitingDeletionCount(): number {
    let count = 0;
    for (const { tombstones } of this.#tables.values()) count += tombstones.count;
    return count;
  }

  /** Milliseconds since the last write, or since startup; 0 while a write is running. */
  get writeIdleMs(): number {
    return this.#writesUnderWay > 0 ? 0 : this.#sequencer.idleMs;
  }

  get isReadOnly(): boolean {
    return this.#sequencer.isReadOnly;
  }

  /** Returns the reason why writes are currently rejected; `undefined` if they are accepted. */
  get obstacle(): string | undefined {
    return this.#sequencer.obstacle?.message;
  }

  /**
   * Returns the reason why rows stay in memory and in the log; `undefined` unless flushes have
   * failed for minutes.
   */
  get flushObstacle(): string | undefined {
    return this.background.flusher.obstacle;
  }

  get segmentCount(): number {
    let count = 0;
    for (const store of this.#tables.values()) count += store.segments.length;
    return count;
  }

  /** Visits every segment, so it is suitable for status pages but not for hot paths. */
  state(): EngineState {
    let segmentBytes = 0;
    for (const { segments } of this.#tables.values())
      for (const { segment } of segments) segmentBytes += segment.sizeBytes;
    return {
      bufferedBytes: this.bufferedBytes,
      logBytes: this.#deps.log.sizeBytes,
      isReadOnly: this.isReadOnly,
      tableCount: this.#tables.count,
      segmentCount: this.segmentCount,
      segmentBytes,
      queriesWaiting: this.#queries.waitingCount,
      queriesRunning: this.#queries.runningCount,
      columnQueries: this.#queries.columnQueryCount,
      columnCacheBytes: this.#columnCache.sizeBytes,
    };
  }

  /**
   * Rejects new writes, finishes running ones and flushes rows that can be flushed quickly. The other rows remain in the log.
   */
  async close(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    if (this.#writesUnderWay > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.#tables.stopIndexing();
    await this.background.close();
    if (!this.#sequencer.isReadOnly) {
      await this.background.flusher.flushLast();
    }
    await this.#queriesEnded();
    await this.#tables.indexingEnded();
    await this.#deps.verifier.close();
    this.#state = 'closed';
    // If the log fails to close, DuckDB's threads and memory must still be freed.
    await this.#deps.log.close().finally(() => this.#deps.duckDb.close());
  }

  /** Lets running queries finish. Queries that take too long fail when DuckDB closes. */
  async #queriesEnded(): Promise<void> {
    const { clock } = this.#deps;
    const latestMs = clock.monotonicMs() + LONGEST_QUERY_WAIT_MS;
    while (this.#queries.runningCount > 0 && clock.monotonicMs() < latestMs) await clock.sleep(5);
  }

  #assertOpen(): void {
    if (this.#state !== 'open') throw tsdbError('shutting_down');
  }
}
