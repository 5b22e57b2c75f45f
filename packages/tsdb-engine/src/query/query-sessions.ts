import type { ResultChunk } from '@plinth/tsdb-model/columns/result.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';
import type {
  QuerySession,
  SessionRequest,
  SessionStatement,
} from '@plinth/tsdb-model/query/query-session.js';
import type { Segment } from '@plinth/tsdb-model/segment.js';
import type { PreparedScan } from '../scan/prepared-scan.js';
import { beginDeadline, noteFailure } from './begin-deadline.js';
import type { QueryLog } from './log/query-log.js';
import type { QueryRows } from './query-rows.js';
import { handleQueryError, type QuerySources } from './query-sources.js';
import type { QuerySlot, QuerySlots } from './slots/query-slots.js';
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

/** Opens sessions: queries of several statements. */
export class QuerySessions {
  readonly #deps: QuerySessionsDeps;

  constructor(deps: QuerySessionsDeps) {
    this.#deps = deps;
  }

  async open(request: SessionRequest): Promise<QuerySession> {
    const logged = this.#deps.queryLog.begin(request);
    const deadline = beginDeadline(logged, {
      client: request,
      owner: request.owner,
      limitMs: this.#deps.queryTimeoutMs,
    });
    let slot: QuerySlot;
    try {
      slot = await this.#deps.slots.acquireOrStartWithoutSlot(deadline);
    } catch (error) {
      deadline.end();
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
      if (isEnded && readCount === 0) slot.release();
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
        return deadline.signal;
      },
      read: (statement) =>
        untilAborted(
          counted(
            yieldingSlotBetween(
              slot,
              this.#chunks(statement, { queryContext: deadline, nowNs, slot }, (segments) =>
                logged.prepared([segments]),
              ),
            ),
          ),
          deadline.signal,
        ),
      readFromColumns: async (columnQuery) => {
        const chunks = await sources.computeFromColumns(columnQuery, nowNs, deadline);
        if (chunks !== undefined) logged.prepared([]);
        return chunks;
      },
      yieldingSlot: (items) =>
        yieldingSlotBetween(
          slot,
          Symbol.asyncIterator in items ? items : yieldingBetween(items, deadline),
        ),
      indexed: (tables) => {
        const indexing = sources.indexed(tables, deadline);
        return indexing && orAborted(indexing, deadline.signal);
      },
      seriesOf: (table) => sources.seriesOf(table),
      livenessOf: (table) => ({
        visibleFromNs: sources.visibleFrom(table, nowNs),
        hasDeletions: sources.hasDeletions(table),
      }),
      returned: (rowCount) => logged.returned(rowCount),
      cancel: () => deadline.cancel(),
      end: (outcome) => {
        deadline.end();
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
      readonly slot: QuerySlot;
    },
    onPrepared: (segments: readonly Segment[]) => void,
  ): AsyncGenerator<ResultChunk, void, undefined> {
    const { queryContext, nowNs, slot } = options;
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
      await slot.ensureSlot();
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
