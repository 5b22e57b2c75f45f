import { CatalogView, type ViewedCatalog } from '@plinth/tsdb-catalog/access/catalog-view.js';
import type { Catalog } from '@plinth/tsdb-catalog/catalog.js';
import type { ResultChunk, ResultStream } from '@plinth/tsdb-model/columns/result.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { ParquetFile, QueryRequest } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type {
  PlanContext,
  PlannedQuery,
  VirtualTables,
} from '@plinth/tsdb-model/query/planned-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type { QuerySession, SessionRequest } from '@plinth/tsdb-model/query/query-session.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import type { DuckDbHost } from '@plinth/tsdb-storage/duckdb/duckdb-host.js';
import type { SegmentFiles } from '@plinth/tsdb-storage/segments/segment-files.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import type { TableStore } from '../table/table-store.js';
import { beginQueryContext, noteFailure } from './begin-query-context.js';
import type { LoggedQuery } from './log/logged-query.js';
import type { QueryLog } from './log/query-log.js';
import { type PreparedQuery, writeQueryFile } from './query-file.js';
import { QueryRows } from './query-rows.js';
import { QuerySessions } from './query-sessions.js';
import { handleQueryError, QuerySources } from './query-sources.js';
import { QuerySlots, type QueryTicket } from './slots/query-slots.js';
import { untilAborted } from './slots/until-aborted.js';
import { yieldingSlotBetween } from './slots/yielding-between.js';

/**
 * Plans a statement. Slow statements are planned in a worker thread, unless the query is aborted.
 */
export type Planner = (
  text: string,
  context: PlanContext,
  queryContext?: QueryContext,
) => PlannedQuery | Promise<PlannedQuery>;

interface QueryPathDeps {
  readonly catalog: ViewedCatalog & Pick<Catalog, 'databaseById'>;
  readonly duckDb: DuckDbHost;
  readonly files: SegmentFiles;
  readonly planner: Planner;
  readonly storeOf: (schema: TableSchema) => TableStore;
  readonly virtualTables: (database: DatabaseSchema, access: DatabaseAccess) => VirtualTables;
  readonly queryLog: QueryLog;
  readonly nowNs: () => bigint;
  readonly maxConcurrentQueries: number;
  /** 0 disables the limit. */
  readonly queryTimeoutMs: number;
}

/** Runs a query, from its text to a stream of chunks. */
export class QueryPath {
  readonly #deps: QueryPathDeps;
  readonly #sources: QuerySources;
  readonly #rows: QueryRows;
  readonly #sessions: QuerySessions;
  readonly #slots: QuerySlots;

  constructor(deps: QueryPathDeps) {
    this.#deps = deps;
    this.#sources = new QuerySources(deps.catalog, deps.storeOf);
    this.#rows = new QueryRows(deps.duckDb, (table) => this.#sources.seriesOf(table));
    this.#slots = new QuerySlots(deps.maxConcurrentQueries);
    this.#sessions = new QuerySessions({
      ...deps,
      sources: this.#sources,
      rows: this.#rows,
      slots: this.#slots,
    });
  }

  /** Number of queries served without DuckDB. */
  get columnQueryCount(): number {
    return this.#sources.columnQueryCount;
  }

  get runningCount(): number {
    return this.#slots.runningCount;
  }

  get waitingCount(): number {
    return this.#slots.waitingCount;
  }

  async query(request: QueryRequest): Promise<ResultStream> {
    const prepared = await this.#prepare(request, true);
    const { columns, tableName } = prepared.planned;
    const { signal } = prepared.queryContext;
    // A generator that is never started never runs its `finally`, so release here.
    const release = (): void => prepared.release();
    signal.addEventListener('abort', release, { once: true });
    return {
      columns,
      tableName,
      chunks: untilAborted(
        this.#chunks(prepared, signal, () => signal.removeEventListener('abort', release)),
        signal,
      ),
    };
  }

  async describe(request: Omit<QueryRequest, 'signal'>): Promise<PlannedQuery> {
    const database = this.#databaseOf(request);
    const nowNs = this.#deps.nowNs();
    const virtualTables = this.#deps.virtualTables(database, request.access);
    const { params, text } = request;
    return await this.#deps.planner(text, { database, nowNs, params, virtualTables });
  }

  async queryToParquet(request: QueryRequest): Promise<ParquetFile> {
    return await writeQueryFile(await this.#prepare(request, false), this.#deps.files);
  }

  openSession(request: SessionRequest): Promise<QuerySession> {
    return this.#sessions.open(request);
  }

  /** Returns the only database that an SQL statement can name, with the caller's permissions. */
  #databaseOf({
    database: name,
    access,
  }: Pick<QueryRequest, 'database' | 'access'>): DatabaseSchema {
    const database = new CatalogView(this.#deps.catalog, access).database(name);
    if (database === undefined) throw tsdbError('database_not_found', { database: name });
    return database;
  }

  /** @param mayUseColumns allows a result without DuckDB. */
  async #prepare(request: QueryRequest, mayUseColumns: boolean): Promise<PreparedQuery> {
    const database = this.#databaseOf(request);
    const { language, text, isInternal = false, access } = request;
    const { owner, principal } = access;
    const logged = this.#deps.queryLog.begin({
      ...{ language, text, isInternal, owner, principal },
      database: request.database,
    });
    const queryContext = beginQueryContext(logged, {
      client: request,
      owner,
      limitMs: this.#deps.queryTimeoutMs,
    });
    let release = (): void => queryContext.end();
    try {
      const ticket = await (mayUseColumns
        ? this.#slots.acquireOrStartWithoutSlot(queryContext)
        : this.#slots.acquire(queryContext));
      release = () => {
        queryContext.end();
        ticket.release();
      };
      logged.slotAcquired();
      return await this.#plan(request, {
        database,
        logged,
        queryContext,
        ticket,
        release,
        mayUseColumns,
      });
    } catch (error) {
      release();
      throw noteFailure(logged, error);
    }
  }

  async #plan(
    request: QueryRequest,
    options: {
      readonly database: DatabaseSchema;
      readonly logged: LoggedQuery;
      readonly queryContext: QueryContext;
      readonly ticket: QueryTicket;
      readonly release: () => void;
      readonly mayUseColumns: boolean;
    },
  ): Promise<PreparedQuery> {
    const { database, logged, queryContext, ticket, release: releaseSlot } = options;
    let nowNs = this.#deps.nowNs();
    const plan = (): PlannedQuery | Promise<PlannedQuery> => {
      const context: PlanContext = {
        database,
        nowNs,
        params: request.params,
        virtualTables: this.#deps.virtualTables(database, request.access),
      };
      return this.#deps.planner(request.text, context, queryContext);
    };
    const planning = plan();
    let planned = planning instanceof Promise ? await planning : planning;
    logged.planned();
    const columnQuery = options.mayUseColumns ? planned.columnQuery : undefined;
    if (columnQuery !== undefined) {
      const chunks = await this.#sources.computeFromColumns(columnQuery, nowNs, queryContext);
      if (chunks !== undefined) {
        logged.prepared([]);
        return {
          planned,
          logged,
          textOrResult: chunks,
          queryContext,
          ticket,
          scans: [],
          release: releaseSlot,
        };
      }
    }
    const acquiring = ticket.ensureSlot();
    if (acquiring !== undefined) {
      await acquiring;
      // The query has waited, so writes that arrived in the meantime are included.
      logged.slotAcquired();
      nowNs = this.#deps.nowNs();
      planned = await plan();
    }
    const scans: PreparedScan[] = [];
    const release = (): void => {
      for (const scan of scans.splice(0)) scan.release();
      releaseSlot();
    };
    try {
      for (const scan of planned.scans) {
        scans.push(await this.#sources.prepareScan(scan, nowNs, queryContext));
      }
      logged.prepared(scans.map((scan) => scan.segments));
      const runnable = this.#rows.prepare(planned, scans, queryContext);
      return { ...runnable, planned, logged, ticket, scans, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async *#chunks(
    prepared: PreparedQuery,
    signal: AbortSignal,
    onBegun: () => void,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { logged, ticket } = prepared;
    onBegun();
    try {
      for await (const chunk of yieldingSlotBetween(ticket, this.#rows.run(prepared))) {
        logged.returned(chunk.rowCount);
        logged.chunkReturned();
        yield chunk;
        logged.chunkRequested();
      }
      logged.ended('success');
    } catch (error) {
      throw noteFailure(logged, handleQueryError(error, signal, prepared.scans));
    } finally {
      // The reader stopped before the last row.
      logged.ended('cancel');
      prepared.release();
    }
  }
}
