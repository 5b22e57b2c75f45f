import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type {
  QuerySession,
  SessionRequest,
  SessionStatement,
} from '@plinth/tsdb-model/query/query-session.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import { beginQueryContext, noteFailure } from './begin-query-context.js';
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
    const nowNs = this.#deps.nowNs();
    const sources = this.#deps.sources;
    // The slot remains in use until DuckDB stops, even if the client has disconnected.
    let readCount = 0;
    let isEnded = false;
    const releaseWhenEnded = (): void => {
      if (isEnded && readCount === 0) ticket.release();
    };
    const counted = async function* <T>(items: AsyncIterable<T>) {
      readCount++;
      try {
        yield* items;
      } finally {
        readCount--;
        releaseWhenEnded();
      }
    };
    return {
      nowNs,
      get signal() {
        return queryContext.signal;
      },
      read: (statement) =>
        untilAborted(
          counted(
            yieldingSlotBetween(
              ticket,
              this.#chunks(statement, { queryContext, nowNs, ticket: ticket }, (segments) =>
                logged.prepared([segments]),
              ),
            ),
          ),
          queryContext.signal,
        ),
      readFromColumns: async (columnQuery) => {
        const chunks = await sources.computeFromColumns(columnQuery, nowNs, queryContext);
        if (chunks !== undefined) logged.prepared([]);
        return chunks;
      },
      yieldingSlot: (items) =>
        yieldingSlotBetween(
          ticket,
          Symbol.asyncIterator in items ? items : yieldingBetween(items, queryContext),
        ),
      indexed: (tables) => {
        const indexing = sources.indexed(tables, queryContext);
        return indexing && orAborted(indexing, queryContext.signal);
      },
      seriesOf: (table) => sources.seriesOf(table),
      livenessOf: (table) => ({
        visibleFromNs: sources.visibleFrom(table, nowNs),
        hasDeletions: sources.hasDeletions(table),
      }),
      returned: (rowCount) => logged.returned(rowCount),
      cancel: () => queryContext.cancel(),
      end: (outcome) => {
        queryContext.end();
        logged.ended(outcome);
        isEnded = true;
        releaseWhenEnded();
      },
    };
  }

  async *#chunks(
    statement: SessionStatement,
    options: {
      readonly queryContext: QueryContext;
      readonly nowNs: bigint;
      readonly ticket: QueryTicket;
    },
    onPrepared: (segments: readonly Segment[]) => void,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { queryContext, nowNs, ticket } = options;
    const { columnQuery } = statement;
    if (columnQuery !== undefined) {
      const chunks = await this.#deps.sources.computeFromColumns(columnQuery, nowNs, queryContext);
      if (chunks !== undefined) {
        onPrepared([]);
        yield* yieldingBetween(chunks, queryContext);
        return;
      }
    }
    const scans: PreparedScan[] = [];
    try {
      await ticket.ensureSlot();
      for (const scan of statement.scans) {
        const prepared = await this.#deps.sources.prepareScan(scan, nowNs, queryContext);
        scans.push(prepared);
        onPrepared(prepared.segments);
      }
      yield* this.#deps.rows.run(this.#deps.rows.prepare(statement, scans, queryContext));
    } catch (error) {
      throw handleQueryError(error, queryContext.signal, scans);
    } finally {
      for (const scan of scans) scan.release();
    }
  }
}
