import type { Clock } from '@plinth/kernel';
import { type RecentRecords, RecentRecordsGone } from '@plinth/tsdb-engine/live/recent-records.js';
import type { LiveQuery, LiveStatements } from './live-query.js';
import { LiveTable } from './live-table.js';
import { isQueueFull } from './statement-runs.js';

/** Wait for clients that do not read what they missed. */
const RETRY_MS = 50;
/** Each copies all matching rows of one write at a time. */
const MAX_PASS_COUNT = 50;

/**
 * Reads missed rows from the log: for many queries in one pass, because thousands of clients
 * reconnect after a restart.
 */
export class CatchUpReader {
  readonly #recent: RecentRecords;
  readonly #clock: Clock;
  readonly #statements: LiveStatements;
  readonly #waiting = new Set<LiveQuery>();
  readonly #onFailed: (queries: readonly LiveQuery[], error: unknown) => void;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: {
    readonly recent: RecentRecords;
    readonly clock: Clock;
    readonly statements: LiveStatements;
    readonly onFailed: (queries: readonly LiveQuery[], error: unknown) => void;
  }) {
    this.#recent = options.recent;
    this.#clock = options.clock;
    this.#statements = options.statements;
    this.#onFailed = options.onFailed;
  }

  /** @param query has begun a catch-up. */
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
        if ((await this.#pass(queries)) === 0) await this.#clock.sleep(RETRY_MS);
      } catch (error) {
        for (const query of queries) this.#waiting.delete(query);
        this.#onFailed(queries, error);
      }
    }
    this.#running = undefined;
  }

  /** @returns the number of queries that made progress. */
  async #pass(waiting: readonly LiveQuery[]): Promise<number> {
    await this.#recent.whenSettled();
    const ready = await this.#readyOf(waiting);
    if (ready.length === 0) return 0;
    const tables = new Map<number, LiveTable>();
    // A query that begins another catch-up during this pass takes part in the next pass.
    const reading = new Map(ready.map((query) => [query, query.catchUp]));
    const isReading = (query: LiveQuery): boolean =>
      reading.has(query) && reading.get(query) === query.catchUp;
    for (const query of ready) {
      const table = tables.get(query.plan.table.id) ?? new LiveTable();
      table.add(query);
      tables.set(query.plan.table.id, table);
    }
    const range = {
      afterSeq: ready.reduce((min, { catchUp }) => least(min, catchUp?.afterSeq), MAX_SEQ),
      throughSeq: ready.reduce((max, { catchUp }) => most(max, catchUp?.throughSeq), 0n),
      tableIds: new Set(tables.keys()),
    };
    try {
      for await (const { seq, batches } of this.#recent.read(range)) {
        if (this.#isClosed || reading.size === 0) return ready.length;
        const full = new Set<LiveQuery>();
        for (const batch of batches) {
          tables.get(batch.store.tableId)?.match(batch, (query, rows, row) => {
            if (!isReading(query)) return;
            query.takeFromLog(rows, row, seq);
            if (query.isFull) full.add(query);
          });
        }
        for (const query of full)
          if (isReading(query) && !(await this.#sendRows(query, seq))) reading.delete(query);
      }
    } catch (error) {
      if (!(error instanceof RecentRecordsGone)) throw error;
      // The next pass reports a gap.
      for (const query of reading.keys())
        if (isReading(query)) query.beginCatchUp(this.#recent.lastSeq);
      return 0;
    }
    for (const query of reading.keys())
      if (isReading(query)) await this.#finish(query, range.throughSeq);
    return ready.length;
  }

  /** Queries whose clients have room. What can no longer be read is reported to them first. */
  async #readyOf(waiting: readonly LiveQuery[]): Promise<readonly LiveQuery[]> {
    const oldestSeq = await this.#recent.oldestSeq();
    const ready: LiveQuery[] = [];
    for (const query of waiting) {
      if (ready.length === MAX_PASS_COUNT) break;
      const { catchUp } = query;
      if (query.isOver || catchUp === undefined) {
        this.#waiting.delete(query);
        continue;
      }
      // Others take part in the next pass before it.
      if (!this.#waiting.delete(query)) continue;
      this.#waiting.add(query);
      const { afterSeq } = catchUp;
      // Rows of an earlier pass that the client had no room for.
      if (!(await this.#sendRows(query, afterSeq))) continue;
      const fromSeq = this.#recent.availableFrom(query.plan.table.id, afterSeq, oldestSeq);
      if (fromSeq === afterSeq || query.skipGap(fromSeq)) ready.push(query);
    }
    return ready;
  }

  async #finish(query: LiveQuery, throughSeq: bigint): Promise<void> {
    const { catchUp } = query;
    if (query.isOver || catchUp === undefined) return;
    // Later rows may have been added to the catch-up during this pass.
    const seq = least(throughSeq, catchUp.throughSeq);
    if ((await this.#sendRows(query, seq)) && query.endCatchUp()) this.#waiting.delete(query);
  }

  /** A failed statement ends only its own stream. */
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

const MAX_SEQ = 2n ** 63n;
const least = (a: bigint, b = a): bigint => (b < a ? b : a);
const most = (a: bigint, b = a): bigint => (b > a ? b : a);
