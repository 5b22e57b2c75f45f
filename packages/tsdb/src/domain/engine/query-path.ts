import { invariant } from '@plinth/kernel';
import { DatabaseNotFound, ExecutionError, NotImplemented, QueryCancelled } from '../../errors.js';
import type { DirectRequest } from '../../model/direct-request.js';
import type { OutputColumn, ResultChunk, ResultStream } from '../../model/result.js';
import type { ScanRequest } from '../../model/scan.js';
import type { DatabaseSchema, TableSchema } from '../../model/schema.js';
import { StepRunner } from '../../model/steps.js';
import { type DuckDbHost, rowSizeOf } from '../../storage/duckdb/duckdb-host.js';
import { quoteName } from '../../storage/duckdb/quote.js';
import type { Segment } from '../../storage/segments/segment.js';
import { FileDamaged, type SegmentFiles } from '../../storage/segments/segment-files.js';
import type { Catalog } from '../catalog/catalog.js';
import type { PlanContext, PlannedQuery, VirtualTables } from '../sql/planned-query.js';
import type { LoggedQuery } from '../system-tables/logged-query.js';
import type { QueryLog } from '../system-tables/query-log.js';
import type { ParquetFile, QueryRequest, QueryShape } from './engine.js';
import { toQueryError } from './engine-failure.js';
import { explainedRows } from './explained-rows.js';
import { HeldMemory } from './held-memory.js';
import { QueryDeadline } from './query-deadline.js';
import { QueryParts } from './query-parts.js';
import type { QuerySession, SessionRequest, SessionStatement } from './query-session.js';
import { type QuerySlot, QuerySlots } from './query-slots.js';
import type { PreparedScan } from './table/prepared-scan.js';
import type { TableStore } from './table-store.js';
import { visibleFrom } from './visible-from.js';

/** What takes long is planned elsewhere, unless `signal` says that nobody waits any more. */
export type Planner = (
  text: string,
  context: PlanContext,
  signal?: AbortSignal,
) => PlannedQuery | Promise<PlannedQuery>;

/** A planned query with its sources pinned. `release` must be called once. */
interface PreparedQuery {
  readonly planned: PlannedQuery;
  /** Text for the engine, or the answer itself. */
  readonly work: string | Iterable<ResultChunk>;
  /** The same text in parts, one behind the other, when the answer is too large to be held. */
  readonly parts?: QueryParts | undefined;
  /** What the engine may have to hold until it has the first row. */
  readonly toSort?: RowsToSort | undefined;
  readonly logged: LoggedQuery;
  /** Of the query: its client's, or its time limit's. */
  readonly signal: AbortSignal;
  readonly slot: QuerySlot;
  release(): void;
}

/** From a query's text to a stream of chunks. */
export class QueryPath {
  readonly #catalog: Pick<Catalog, 'database' | 'databaseById'>;
  readonly #host: DuckDbHost;
  readonly #files: SegmentFiles;
  readonly #planner: Planner;
  readonly #storeOf: (schema: TableSchema) => TableStore;
  readonly #virtualTables: (database: DatabaseSchema) => VirtualTables;
  readonly #queryLog: QueryLog;
  readonly #nowNs: () => bigint;
  readonly #slots: QuerySlots;
  readonly #timeoutMs: number;
  readonly #held = new HeldMemory();
  /** Queries that were answered without the engine. */
  directCount = 0;

  constructor(options: {
    readonly catalog: Pick<Catalog, 'database' | 'databaseById'>;
    readonly host: DuckDbHost;
    readonly files: SegmentFiles;
    readonly planner: Planner;
    readonly storeOf: (schema: TableSchema) => TableStore;
    readonly virtualTables: (database: DatabaseSchema) => VirtualTables;
    readonly queryLog: QueryLog;
    readonly nowNs: () => bigint;
    readonly maxConcurrentQueries: number;
    /** 0: none. */
    readonly queryTimeoutMs: number;
  }) {
    this.#catalog = options.catalog;
    this.#host = options.host;
    this.#files = options.files;
    this.#planner = options.planner;
    this.#storeOf = options.storeOf;
    this.#virtualTables = options.virtualTables;
    this.#queryLog = options.queryLog;
    this.#nowNs = options.nowNs;
    this.#slots = new QuerySlots(options.maxConcurrentQueries);
    this.#timeoutMs = options.queryTimeoutMs;
  }

  get runningCount(): number {
    return this.#slots.runningCount;
  }

  get waitingCount(): number {
    return this.#slots.waitingCount;
  }

  async query(request: QueryRequest): Promise<ResultStream> {
    const prepared = await this.#prepare(request, true);
    const { signal } = prepared;
    // An answer that nobody begins to take never comes to its own end.
    const leave = (): void => prepared.release();
    signal.addEventListener('abort', leave, { once: true });
    return {
      columns: prepared.planned.columns,
      tableName: prepared.planned.tableName,
      chunks: this.#chunks(prepared, signal, () => signal.removeEventListener('abort', leave)),
    };
  }

  async describe(request: Omit<QueryRequest, 'signal'>): Promise<QueryShape> {
    const database = this.#catalog.database(request.database);
    if (database === undefined) throw new DatabaseNotFound({ database: request.database });
    const nowNs = this.#nowNs();
    const virtualTables = this.#virtualTables(database);
    const { params, text } = request;
    return await this.#planner(text, { database, nowNs, params, virtualTables });
  }

  async queryToParquet(request: QueryRequest): Promise<ParquetFile> {
    const prepared = await this.#prepare(request, false);
    try {
      const { work, planned } = prepared;
      if (planned.isExplained) throw new NotImplemented('EXPLAIN in this format');
      invariant(typeof work === 'string', 'the engine writes files of what it has read itself');
      const file = await this.#files.writeResult({
        // The engine's text has names of its own; the file has those of the answer.
        select: `SELECT * FROM (${work}) r(${planned.columns.map((c) => quoteName(c.name)).join(', ')})`,
        signal: prepared.signal,
      });
      prepared.logged.ended('success');
      return file;
    } catch (error) {
      throw noteFailure(prepared.logged, toQueryError(error, prepared.signal));
    } finally {
      prepared.release();
    }
  }

  async openSession(request: SessionRequest): Promise<QuerySession> {
    const logged = this.#queryLog.begin(request);
    const deadline = new QueryDeadline(request.signal, this.#timeoutMs);
    const { signal } = deadline;
    let slot: QuerySlot;
    try {
      slot = await this.#slots.admit(signal);
    } catch (error) {
      deadline.end();
      throw noteFailure(logged, error);
    }
    logged.permitted();
    logged.planned();
    const nowNs = this.#nowNs();
    return {
      nowNs,
      signal,
      read: (statement) =>
        lendingBetween(
          slot,
          this.#sessionChunks(statement, { signal, nowNs, slot }, (segments) =>
            logged.prepared([segments]),
          ),
        ),
      readDirectly: async (direct) => {
        const chunks = await this.#answerDirectly(direct, nowNs, signal);
        if (chunks !== undefined) logged.prepared([]);
        return chunks;
      },
      lending: (items) => lendingBetween(slot, items),
      seriesOf: (table) => this.#storeOf(table).index,
      livenessOf: (table) => ({
        visibleFromNs: this.#visibleFrom(table, nowNs),
        hasDeletions: this.#storeOf(table).tombstones.hadAny,
      }),
      end: (outcome) => {
        deadline.end();
        logged.ended(outcome);
        slot.release();
      },
    };
  }

  async *#sessionChunks(
    statement: SessionStatement,
    at: { readonly signal: AbortSignal; readonly nowNs: bigint; readonly slot: QuerySlot },
    onPrepared: (segments: readonly Segment[]) => void,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { signal, nowNs, slot } = at;
    const { direct } = statement;
    if (direct !== undefined) {
      const chunks = await this.#answerDirectly(direct, nowNs, signal);
      if (chunks !== undefined) {
        onPrepared([]);
        yield* inTurns(chunks, signal);
        return;
      }
    }
    const scans: PreparedScan[] = [];
    try {
      await slot.enter();
      for (const scan of statement.scans) {
        const fromNs = this.#visibleFrom(scan.table, nowNs);
        const prepared = await this.#prepareScan(scan, fromNs, signal);
        scans.push(prepared);
        onPrepared(prepared.segments);
      }
      const text = statement.render((index) => (scans[index] as PreparedScan).text);
      const { columns, isSmall } = statement;
      yield* this.#host.stream({ text, columns, isSmall, signal });
    } catch (error) {
      throw toQueryError(error, signal);
    } finally {
      for (const scan of scans) scan.release();
    }
  }

  async #answerDirectly(
    direct: DirectRequest,
    nowNs: bigint,
    signal: AbortSignal,
  ): Promise<Iterable<ResultChunk> | undefined> {
    const store = this.#storeOf(direct.table);
    try {
      const chunks = await store.answerDirectly(direct, this.#visibleFrom(direct.table, nowNs));
      if (chunks !== undefined) this.directCount++;
      return chunks;
    } catch (error) {
      // Columns that are not in memory yet are read by the engine.
      throw toQueryError(error, signal);
    }
  }

  #visibleFrom(table: TableSchema, nowNs: bigint): bigint {
    const database = this.#catalog.databaseById(table.databaseId);
    return visibleFrom({ retentionNs: database?.retentionNs }, table, nowNs);
  }

  /** @param mayBeDirect the answer may be made without the engine. */
  async #prepare(request: QueryRequest, mayBeDirect: boolean): Promise<PreparedQuery> {
    const database = this.#catalog.database(request.database);
    if (database === undefined) throw new DatabaseNotFound({ database: request.database });
    const logged = this.#queryLog.begin(request);
    const deadline = new QueryDeadline(request.signal, this.#timeoutMs);
    const { signal } = deadline;
    let leave = (): void => deadline.end();
    try {
      const slot = await (mayBeDirect ? this.#slots.admit(signal) : this.#slots.take(signal));
      leave = () => {
        deadline.end();
        slot.release();
      };
      logged.permitted();
      return await this.#plan(request, { database, logged, signal, slot, leave, mayBeDirect });
    } catch (error) {
      leave();
      throw noteFailure(logged, error);
    }
  }

  async #plan(
    request: QueryRequest,
    at: {
      readonly database: DatabaseSchema;
      readonly logged: LoggedQuery;
      readonly signal: AbortSignal;
      readonly slot: QuerySlot;
      readonly leave: () => void;
      readonly mayBeDirect: boolean;
    },
  ): Promise<PreparedQuery> {
    const { database, logged, signal, slot, leave } = at;
    let nowNs = this.#nowNs();
    const plan = (): PlannedQuery | Promise<PlannedQuery> => {
      const context: PlanContext = {
        database,
        nowNs,
        params: request.params,
        virtualTables: this.#virtualTables(database),
      };
      return this.#planner(request.text, context, signal);
    };
    const planning = plan();
    let planned = planning instanceof Promise ? await planning : planning;
    logged.planned();
    const direct = at.mayBeDirect ? planned.direct : undefined;
    if (direct !== undefined) {
      const chunks = await this.#answerDirectly(direct, nowNs, signal);
      if (chunks !== undefined) {
        logged.prepared([]);
        return { planned, logged, work: chunks, signal, slot, release: leave };
      }
    }
    const entering = slot.enter();
    if (entering !== undefined) {
      await entering;
      // It has waited: what was written meanwhile counts.
      logged.permitted();
      nowNs = this.#nowNs();
      planned = await plan();
    }
    const scans: PreparedScan[] = [];
    const release = (): void => {
      for (const scan of scans.splice(0)) scan.release();
      leave();
    };
    try {
      for (const scan of planned.scans) {
        const fromNs = visibleFrom(database, scan.table, nowNs);
        scans.push(await this.#prepareScan(scan, fromNs, signal));
      }
      logged.prepared(scans.map((scan) => scan.segments));
      return {
        planned,
        logged,
        slot,
        work: planned.render((index) => (scans[index] as PreparedScan).text),
        parts: QueryParts.of(planned, scans, (table) => this.#storeOf(table).index),
        toSort: rowsToSort(planned, scans),
        signal,
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #prepareScan(
    request: ScanRequest,
    cutoffNs: bigint,
    signal: AbortSignal,
  ): Promise<PreparedScan> {
    if (request.source !== undefined) {
      return { segments: [], ...(await request.source.prepare(request)) };
    }
    try {
      return await this.#storeOf(request.table).prepareScan(request, cutoffNs);
    } catch (error) {
      if (error instanceof FileDamaged) throw new ExecutionError(error.message, { cause: error });
      // Rows are handed to the engine first.
      throw toQueryError(error, signal);
    }
  }

  async *#chunks(
    prepared: PreparedQuery,
    signal: AbortSignal,
    onBegun: () => void,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { logged, slot } = prepared;
    onBegun();
    try {
      for await (const chunk of lendingBetween(slot, this.#rowsOf(prepared, signal))) {
        logged.handedOut();
        yield chunk;
        logged.askedForMore();
      }
      logged.ended('success');
    } catch (error) {
      throw noteFailure(logged, toQueryError(error, signal));
    } finally {
      // Nobody took the rest.
      logged.ended('cancel');
      prepared.release();
    }
  }

  #rowsOf(
    { work, planned, parts, toSort }: PreparedQuery,
    signal: AbortSignal,
  ): AsyncIterable<ResultChunk> {
    if (typeof work !== 'string') return inTurns(work, signal);
    const { columns, isSmall, isExplained } = planned;
    if (parts !== undefined) return parts.rows({ host: this.#host, columns, signal });
    if (isExplained || isSmall || toSort === undefined) {
      const chunks = this.#host.stream({ text: work, columns, isSmall, signal });
      return isExplained ? explainedRows(chunks) : chunks;
    }
    return this.#sortedRows(work, { columns, toSort, signal });
  }

  /**
   * The engine holds all rows that it sorts until the last one is taken, ten times what a limit may let out. So the answer is
   * taken over at once where it has an end in sight, and not all sorts run at a time.
   */
  async *#sortedRows(
    text: string,
    at: {
      readonly columns: readonly OutputColumn[];
      readonly toSort: RowsToSort;
      readonly signal: AbortSignal;
    },
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { columns, toSort, signal } = at;
    const sorted = await this.#held.takeForSort(toSort.sizeBytes, signal);
    const rowSize = rowSizeOf(columns);
    const taken =
      rowSize === undefined ? undefined : this.#held.takeForAnswer(toSort.answerRows * rowSize);
    try {
      const aheadRows = taken === undefined ? 0 : toSort.answerRows;
      yield* this.#host.stream({
        text,
        columns,
        isSmall: false,
        signal,
        aheadRows,
        onMade: sorted,
      });
    } finally {
      sorted();
      taken?.();
    }
  }
}

interface RowsToSort {
  /** About what the rows take that are read. */
  readonly sizeBytes: number;
  /** About as many rows come out at most. */
  readonly answerRows: number;
}

/** A value with its share of the keys and of what the engine keeps of a row. */
const SORTED_VALUE_BYTES = 12;

function rowsToSort(planned: PlannedQuery, scans: readonly PreparedScan[]): RowsToSort {
  const { maxRows = Number.POSITIVE_INFINITY } = planned;
  let sizeBytes = 0;
  let rowCount = 0;
  scans.forEach(({ parts }, index) => {
    const rows = (parts?.spans ?? []).reduce((sum, span) => sum + span.rowCount, 0);
    rowCount += rows;
    sizeBytes += rows * (planned.scans[index]?.columns.length ?? 0) * SORTED_VALUE_BYTES;
  });
  // Several scans may have more rows in common than all of them together.
  const mostRows = scans.length === 1 ? rowCount : Number.POSITIVE_INFINITY;
  return { sizeBytes, answerRows: Math.min(maxRows, mostRows) };
}

/**
 * Hands chunks on and lends the query's place while nobody asks for the next: slow readers must not keep others from
 * running.
 */
async function* lendingBetween<T>(
  slot: QuerySlot,
  chunks: AsyncIterable<T> | Iterable<T>,
): AsyncGenerator<T, void, undefined> {
  for await (const chunk of chunks) {
    slot.lend();
    yield chunk;
    const isBack = slot.reclaim();
    if (isBack !== undefined) await isBack;
  }
}

/** Chunks that are made as they are asked for. Others get their turn between two, and who has left gets no more. */
async function* inTurns(
  chunks: Iterable<ResultChunk>,
  signal: AbortSignal,
): AsyncGenerator<ResultChunk, void, undefined> {
  const runner = new StepRunner(signal);
  for (const chunk of chunks) {
    await runner.take();
    yield chunk;
  }
}

function noteFailure<E>(logged: LoggedQuery, error: E): E {
  logged.ended(error instanceof QueryCancelled ? 'cancel' : 'fail');
  return error;
}
