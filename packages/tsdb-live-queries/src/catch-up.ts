import type { Clock } from '@plinth/kernel';
import { RecordsNotRetained, type RetainedLog } from '@plinth/tsdb-engine/live/retained-log.js';
import { MAX_INT64 } from '@plinth/tsdb-model/columns/int64.js';
import type { LiveQuery, LiveStatements } from './live-query.js';
import { LiveTable } from './live-table.js';
import { isQueueFull } from './statement-runs.js';

/** Delay before a retry for clients that do not read missed rows. */
const RETRY_MS = 50;
const TRY_MS = 2;
const MAX_TRIES = 5;
/**
 * Maximum wait between passes. The wait prevents slow clients from making the server reread the same part of the log.
 */
const MAX_WAIT_MS = 500;
/** Passes with a slow client take at most a fifth of the time. */
const WAIT_FACTOR = 4;
/** Maximum queries per pass. Each query copies all matching rows of one write at a time. */
const MAX_PASS_COUNT = 50;

/**
 * Reads missed rows from the log: for many queries in one pass, because thousands of clients
 * reconnect after a restart.
 */
export class CatchUpReader {
  readonly #retainedLog: RetainedLog;
  readonly #clock: Clock;
  readonly #statements: LiveStatements;
  readonly #waiting = new Set<LiveQuery>();
  readonly #onFailed: (queries: readonly LiveQuery[], error: unknown) => void;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: {
    readonly retainedLog: RetainedLog;
    readonly clock: Clock;
    readonly statements: LiveStatements;
    readonly onFailed: (queries: readonly LiveQuery[], error: unknown) => void;
  }) {
    this.#retainedLog = options.retainedLog;
    this.#clock = options.clock;
    this.#statements = options.statements;
    this.#onFailed = options.onFailed;
  }

  /** @param query has started a catch-up. */
  add(query: LiveQuery): void {
    this.#waiting.add(query);
    this.#running ??= this.#run();
  }

  delete(query: LiveQuery): void {
    this.#waiting.delete(query);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isClosed) {
      const queries = [...this.#waiting];
      try {
        const waitMs = await this.#pass(queries);
        if (waitMs > 0) await this.#clock.sleep(waitMs);
      } catch (error) {
        for (const query of queries) this.#waiting.delete(query);
        this.#onFailed(queries, error);
      }
    }
    this.#running = undefined;
  }

  /** @returns the time to wait before the next pass. */
  async #pass(waiting: readonly LiveQuery[]): Promise<number> {
    await this.#retainedLog.whenSettled();
    const startMs = this.#clock.monotonicMs();
    const ready = await this.#readyOf(waiting);
    if (ready.length === 0) return RETRY_MS;
    const tables = new Map<number, LiveTable>();
    // A query that starts another catch-up during this pass takes part in the next pass.
    const reading = new Map(ready.map((query) => [query, query.catchUp]));
    const isReading = (query: LiveQuery): boolean =>
      reading.has(query) && reading.get(query) === query.catchUp;
    for (const query of ready) {
      const table = tables.get(query.plan.table.id) ?? new LiveTable();
      table.add(query);
      tables.set(query.plan.table.id, table);
    }
    const range = {
      afterSeq: ready.reduce((min, { catchUp }) => least(min, catchUp?.afterSeq), MAX_INT64),
      throughSeq: ready.reduce((max, { catchUp }) => most(max, catchUp?.throughSeq), 0n),
      tableIds: new Set(tables.keys()),
    };
    try {
      for await (const { seq, batches } of this.#retainedLog.read(range)) {
        if (this.#isClosed) return 0;
        if (reading.size === 0) break;
        const full = new Set<LiveQuery>();
        for (const batch of batches) {
          tables.get(batch.store.tableId)?.match(batch, (query, rows, row) => {
            if (!isReading(query)) return;
            query.takeFromLog(rows, row, seq);
            if (query.isFull) full.add(query);
          });
        }
        for (const query of full)
          if (!(await this.#sendSoon(query, seq, isReading))) reading.delete(query);
      }
    } catch (error) {
      if (!(error instanceof RecordsNotRetained)) throw error;
      // The next pass reports a gap.
      for (const query of reading.keys())
        if (isReading(query)) query.beginCatchUp(this.#retainedLog.lastSeq);
      return RETRY_MS;
    }
    for (const query of reading.keys())
      if (isReading(query)) await this.#finish(query, range.throughSeq);
    if (reading.size === ready.length) return 0;
    return Math.min(MAX_WAIT_MS, WAIT_FACTOR * (this.#clock.monotonicMs() - startMs));
  }

  /**
   * Returns the queries whose clients can accept more rows. First reports rows that the log no longer retains to these
   * clients as a gap.
   */
  async #readyOf(waiting: readonly LiveQuery[]): Promise<readonly LiveQuery[]> {
    const oldestSeq = await this.#retainedLog.oldestSeq();
    const ready: LiveQuery[] = [];
    for (const query of waiting) {
      if (ready.length === MAX_PASS_COUNT) break;
      const { catchUp } = query;
      if (query.hasEnded || catchUp === undefined) {
        this.#waiting.delete(query);
        continue;
      }
      // Moves the query to the end, so that the others are served first in the next pass.
      if (!this.#waiting.delete(query)) continue;
      this.#waiting.add(query);
      const { afterSeq } = catchUp;
      // Sends rows of an earlier pass that the client could not accept.
      if (!(await this.#sendRows(query, afterSeq))) continue;
      const fromSeq = this.#retainedLog.availableFrom(query.plan.table.id, afterSeq, oldestSeq);
      if (fromSeq === afterSeq || query.skipGap(fromSeq)) ready.push(query);
    }
    return ready;
  }

  async #finish(query: LiveQuery, throughSeq: bigint): Promise<void> {
    const { catchUp } = query;
    if (query.hasEnded || catchUp === undefined) return;
    // Later rows may have been added to the catch-up during this pass.
    const seq = least(throughSeq, catchUp.throughSeq);
    if ((await this.#sendRows(query, seq)) && query.endCatchUp()) this.#waiting.delete(query);
  }

  /** Retries for a short time, because a client that reads quickly can soon accept more rows. */
  async #sendSoon(
    query: LiveQuery,
    seq: bigint,
    isReading: (query: LiveQuery) => boolean,
  ): Promise<boolean> {
    for (let tries = 0; isReading(query); tries++) {
      if (await this.#sendRows(query, seq)) return true;
      if (query.sink.hasRoom || tries === MAX_TRIES || this.#isClosed) return false;
      await this.#clock.sleep(TRY_MS);
    }
    return true;
  }

  /** Sends rows of a catch-up. A failed statement ends only its own stream. */
  async #sendRows(query: LiveQuery, seq: bigint): Promise<boolean> {
    try {
      return await query.sendCaughtUp(seq, this.#statements);
    } catch (error) {
      if (isQueueFull(error)) return false;
      this.#waiting.delete(query);
      this.#onFailed([query], error);
      return false;
    }
  }
}

const least = (a: bigint, b = a): bigint => (b < a ? b : a);
const most = (a: bigint, b = a): bigint => (b > a ? b : a);
