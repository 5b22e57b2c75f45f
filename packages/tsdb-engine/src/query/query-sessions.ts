import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { ColumnQuery } from '@plinth/tsdb-model/query/column-query.js';
import type { QueryOutcome } from '@plinth/tsdb-model/query/query-outcome.js';
import type {
  Liveness,
  QuerySession,
  SessionRequest,
  SessionStatement,
} from '@plinth/tsdb-model/query/query-session.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SeriesLookup } from '@plinth/tsdb-model/series/series-lookup.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import { beginQueryContext, noteFailure } from './begin-query-context.js';
import type { LoggedQuery } from './log/logged-query.js';
import type { QueryLog } from './log/query-log.js';
import type { QueryRows } from './query-rows.js';
import { handleQueryError, type QuerySources } from './query-sources.js';
import type { QuerySlots, QueryTicket } from './slots/query-slots.js';
import { orAborted, untilAborted } from './slots/until-aborted.js';
import { yieldingBetween, yieldingSlotBetween } from './slots/yielding-between.js';

interface QuerySessionsDeps {
  readonly sources: QuerySources;
  readonly rows: QueryRows;
  readonly slots: QuerySlots;
  readonly queryLog: QueryLog;
  readonly nowNs: () => bigint;
  /** 0 disables the limit. */
  readonly queryTimeoutMs: number;
}

/** Opens sessions: queries that consist of several statements. */
export class QuerySessions {
  readonly #deps: QuerySessionsDeps;

  constructor(deps: QuerySessionsDeps) {
    this.#deps = deps;
  }

  async open(request: SessionRequest): Promise<QuerySession> {
    const logged = this.#deps.queryLog.begin(request);
    const queryContext = beginQueryContext(logged, {
      client: request,
      owner: request.owner,
      limitMs: this.#deps.queryTimeoutMs,
    });
    let ticket: QueryTicket;
    try {
      ticket = await this.#deps.slots.acquireOrStartWithoutSlot(queryContext);
    } catch (error) {
      queryContext.end();
      throw noteFailure(logged, error);
    }
    logged.slotAcquired();
    logged.planned();
    return new OpenSession(this.#deps, { logged, queryContext, ticket });
  }
}

/** One session. Its slot remains in use until DuckDB stops, even if the client has disconnected. */
class OpenSession implements QuerySession {
  readonly nowNs: bigint;
  readonly #sources: QuerySources;
  readonly #rows: QueryRows;
  readonly #logged: LoggedQuery;
  readonly #queryContext: ReturnType<typeof beginQueryContext>;
  readonly #ticket: QueryTicket;
  #readCount = 0;
  #isEnded = false;

  constructor(
    { sources, rows, nowNs }: QuerySessionsDeps,
    query: {
      readonly logged: LoggedQuery;
      readonly queryContext: ReturnType<typeof beginQueryContext>;
      readonly ticket: QueryTicket;
    },
  ) {
    this.nowNs = nowNs();
    this.#sources = sources;
    this.#rows = rows;
    this.#logged = query.logged;
    this.#queryContext = query.queryContext;
    this.#ticket = query.ticket;
  }

  get signal(): AbortSignal {
    return this.#queryContext.signal;
  }

  read(statement: SessionStatement): AsyncIterable<ResultChunk> {
    const chunks = yieldingSlotBetween(this.#ticket, this.#chunks(statement));
    return untilAborted(this.#counted(chunks), this.signal);
  }

  async readFromColumns(columnQuery: ColumnQuery): Promise<Iterable<ResultChunk> | undefined> {
    const chunks = await this.#sources.computeFromColumns(
      columnQuery,
      this.nowNs,
      this.#queryContext,
    );
    if (chunks !== undefined) this.#logged.prepared([]);
    return chunks;
  }

  yieldingSlot<T>(items: AsyncIterable<T> | Iterable<T>): AsyncIterable<T> {
    return yieldingSlotBetween(
      this.#ticket,
      Symbol.asyncIterator in items ? items : yieldingBetween(items, this.#queryContext),
    );
  }

  indexed(tables: readonly TableSchema[]): Promise<void> | undefined {
    const indexing = this.#sources.indexed(tables, this.#queryContext);
    return indexing && orAborted(indexing, this.signal);
  }

  seriesOf(table: TableSchema): SeriesLookup {
    return this.#sources.seriesOf(table);
  }

  livenessOf(table: TableSchema): Liveness {
    return {
      visibleFromNs: this.#sources.visibleFrom(table, this.nowNs),
      hasDeletions: this.#sources.hasDeletions(table),
    };
  }

  returned(rowCount: number): void {
    this.#logged.returned(rowCount);
  }

  cancel(): void {
    this.#queryContext.cancel();
  }

  end(outcome: QueryOutcome): void {
    this.#queryContext.end();
    this.#logged.ended(outcome);
    this.#isEnded = true;
    this.#releaseWhenEnded();
  }

  async *#counted<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    this.#readCount++;
    try {
      yield* items;
    } finally {
      this.#readCount--;
      this.#releaseWhenEnded();
    }
  }

  #releaseWhenEnded(): void {
    if (this.#isEnded && this.#readCount === 0) this.#ticket.release();
  }

  async *#chunks(statement: SessionStatement): AsyncGenerator<ResultChunk, void, undefined> {
    const { columnQuery } = statement;
    if (columnQuery !== undefined) {
      const chunks = await this.readFromColumns(columnQuery);
      if (chunks !== undefined) {
        yield* yieldingBetween(chunks, this.#queryContext);
        return;
      }
    }
    const scans: PreparedScan[] = [];
    try {
      await this.#ticket.ensureSlot();
      for (const scan of statement.scans) {
        const prepared = await this.#sources.prepareScan(scan, this.nowNs, this.#queryContext);
        scans.push(prepared);
        this.#logged.prepared([prepared.segments]);
      }
      yield* this.#rows.run(this.#rows.prepare(statement, scans, this.#queryContext));
    } catch (error) {
      throw handleQueryError(error, this.signal, scans);
    } finally {
      for (const scan of scans) scan.release();
    }
  }
}
