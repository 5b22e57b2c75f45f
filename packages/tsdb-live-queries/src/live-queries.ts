import type { Clock, Logger, Principal } from '@plinth/kernel';
import { LogRetention } from '@plinth/tsdb-engine/live/log-retention.js';
import type { RetainedLog } from '@plinth/tsdb-engine/live/retained-log.js';
import type { RecordListener, TableBatch } from '@plinth/tsdb-engine/write/write-sequencer.js';
import type { DatabaseAccess } from '@plinth/tsdb-model/database/database-access.js';
import type { Engine } from '@plinth/tsdb-model/engine.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { CatchUpReader } from './catch-up.js';
import { livePlan } from './live-plan.js';
import { LiveQuery, type LiveStatements } from './live-query.js';
import type { LiveSink } from './live-sink.js';
import { LiveTable } from './live-table.js';
import type { Position } from './position.js';
import { isQueueFull } from './statement-runs.js';

/** Interval at which some of the waiting queries are served. */
const SEND_INTERVAL_MS = 20;
/** Minimum wait, during which rows of further writes are added to the same event. */
const LEAST_WAIT_MS = 60;
/**
 * After their minimum wait, all queries are served within this number of intervals, some of them in each, so that
 * thousands of events do not block the event loop at once.
 */
const INTERVAL_COUNT = 7;
const LEAST_SERVED_COUNT = 50;
/** Computations use at most 20 ms of every 100 ms, so that they do not delay writes. */
const COMPUTING_INTERVAL_MS = 100;
const MAX_COMPUTING_MS = 20;
/** Maximum number of concurrent computations. */
const MAX_COMPUTING_COUNT = 4;
const HEARTBEAT_MS = 15_000;
/** Interval at which streams of revoked tokens and deleted tables end. */
const CHECK_MS = 500;
/** Clients can continue with the new table. `plinth watch` recognizes this text. */
const TABLE_REPLACED = 'a column of the table was converted, or the table was created again';

interface LiveQueriesDeps {
  readonly engine: Pick<Engine, 'describe'> & { readonly retainedLog: RetainedLog };
  readonly catalog: {
    database(name: string): DatabaseSchema | undefined;
    tableById(id: number): TableSchema | undefined;
  };
  readonly statements: LiveStatements;
  readonly isCurrent: (principal: Principal) => boolean;
  readonly maxCount: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A request for a live query. */
export interface LiveQueryRequest {
  readonly database: string;
  readonly access: DatabaseAccess;
  readonly text: string;
  readonly params: ReadonlyMap<string, ParameterValue>;
  /** The position at which an earlier stream ended; without it, only rows written from now on are sent. */
  readonly after: Position | undefined;
  readonly sink: LiveSink;
}

/** All running live queries. */
export class LiveQueries implements RecordListener {
  readonly #deps: LiveQueriesDeps;
  readonly #tables = new Map<number, LiveTable>();
  readonly #queries = new Map<LiveQuery, LiveQueryRequest>();
  readonly #catchUp: CatchUpReader;
  /** Timers that run only while live queries exist. */
  #timers: readonly Disposable[] = [];
  readonly #logRetention: LogRetention;
  /** Versions of the tables of the last rows. */
  readonly #versions = new Map<number, number>();
  /** Queries with rows to send, with the time of the first of them, oldest first. */
  readonly #waiting = new Map<LiveQuery, number>();
  /** Queries in the order in which their results are computed. */
  readonly #computing = new Set<LiveQuery>();
  #isComputing = false;
  #openingCount = 0;
  #isClosed = false;
  #endedSent = 0;
  #endedDropped = 0;

  constructor(deps: LiveQueriesDeps) {
    this.#deps = deps;
    const { clock, statements, engine } = deps;
    this.#catchUp = new CatchUpReader({
      ...{ retainedLog: engine.retainedLog, clock, statements },
      onFailed: (queries, error) => this.#failed(queries, error),
    });
    this.#logRetention = new LogRetention({
      ...{ retainedLog: engine.retainedLog, clock, log: deps.log },
      isUsed: () => this.count > 0,
    });
  }

  #startTimers(): void {
    const { clock } = this.#deps;
    this.#timers = [
      clock.every(SEND_INTERVAL_MS, () => this.#send()),
      clock.every(COMPUTING_INTERVAL_MS, () => this.#computeSome()),
      clock.every(HEARTBEAT_MS, () => this.#beat()),
      clock.every(CHECK_MS, () => this.#endInvalid()),
    ];
  }

  #stopTimers(): void {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#timers = [];
  }

  get count(): number {
    return this.#queries.size;
  }

  /** Rows sent since the server started, and rows dropped because clients were too slow. */
  get rowCounts(): { readonly sent: number; readonly dropped: number } {
    let [sent, dropped] = [this.#endedSent, this.#endedDropped];
    for (const { sentRowCount, droppedRowCount } of this.#queries.keys()) {
      sent += sentRowCount;
      dropped += droppedRowCount;
    }
    return { sent, dropped };
  }

  /**
   * Starts a live query. Throws like a query, `live_query_unsupported`, `too_many_live_queries`.
   * @returns the function that stops it.
   */
  async open(request: LiveQueryRequest): Promise<() => void> {
    const { engine, maxCount } = this.#deps;
    if (this.#isClosed) throw tsdbError('shutting_down');
    if (this.count + this.#openingCount >= maxCount)
      throw tsdbError('too_many_live_queries', { maxCount });
    this.#openingCount++;
    try {
      const plan = livePlan(await engine.describe({ ...request, language: 'sql' }));
      if (this.#isClosed) throw tsdbError('shutting_down');
      return this.#start(request, plan);
    } finally {
      this.#openingCount--;
    }
  }

  #start(request: LiveQueryRequest, plan: ReturnType<typeof livePlan>): () => void {
    const { retainedLog } = this.#deps.engine;
    const { principal } = request.access;
    const now = { seq: retainedLog.lastSeq };
    // A position after the last write comes from another log, for example from before a restore.
    const isForeign = request.after !== undefined && request.after.seq > now.seq;
    const position = isForeign ? now : (request.after ?? now);
    const query = new LiveQuery({
      ...{ plan, position, text: request.text, sink: request.sink },
      database: { id: plan.table.databaseId, name: request.database },
      isLetIn: () => principal === undefined || this.#deps.isCurrent(principal),
    });
    if (this.count === 0) this.#startTimers();
    this.#queries.set(query, request);
    this.#logRetention.noteUse();
    // Runs in the same event-loop tick as the position is read, so that no row is missed or sent twice.
    this.#attach(query);
    request.sink.notice({ kind: 'start' }, position);
    if (isForeign) request.sink.notice({ kind: 'gap', from: { seq: 0n }, to: now }, now);
    else if (request.after !== undefined) {
      query.beginCatchUp(now.seq);
      this.#catchUp.add(query);
    }
    return () => this.#stop(query);
  }

  #attach(query: LiveQuery): void {
    const { id, version } = query.plan.table;
    const table = this.#tables.get(id) ?? new LiveTable();
    this.#tables.set(id, table);
    table.add(query);
    const known = this.#versions.get(id);
    // Rows of a newer version may arrive before the next plan.
    if (known === undefined || version < known) this.#versions.set(id, version);
  }

  #detach(query: LiveQuery): void {
    const { id } = query.plan.table;
    const table = this.#tables.get(id);
    table?.delete(query);
    if (table?.queries.size !== 0) return;
    this.#tables.delete(id);
    this.#versions.delete(id);
  }

  #stop(query: LiveQuery): void {
    if (query.hasEnded) return;
    query.hasEnded = true;
    this.#detach(query);
    this.#catchUp.delete(query);
    this.#computing.delete(query);
    this.#waiting.delete(query);
    this.#queries.delete(query);
    this.#logRetention.noteUse();
    if (this.count === 0) this.#stopTimers();
    this.#endedSent += query.sentRowCount;
    this.#endedDropped += query.droppedRowCount;
  }

  #end(query: LiveQuery, reason: string): void {
    if (query.hasEnded) return;
    this.#stop(query);
    query.sink.end(reason);
  }

  wants(tableId: number): boolean {
    return this.#tables.has(tableId);
  }

  recordDurable(seq: bigint, batches: readonly TableBatch[]): void {
    for (const batch of batches) {
      const { tableId, schema } = batch.store;
      const table = this.#tables.get(tableId);
      if (table === undefined) continue;
      if (schema.version > (this.#versions.get(tableId) ?? 0))
        this.#noteColumns(table, schema, seq);
      table.match(batch, (query, rows, row) => {
        if (query.take(rows, row, seq) && !this.#waiting.has(query))
          this.#waiting.set(query, this.#deps.clock.monotonicMs());
      });
    }
  }

  /** Replans queries for new columns, which the rows of this write can have and which `*` includes. */
  #noteColumns(table: LiveTable, schema: TableSchema, seq: bigint): void {
    this.#versions.set(schema.id, schema.version);
    for (const query of table.queries) {
      if (!query.readsAllColumns || query.plan.table.version >= schema.version) continue;
      // Until the query is planned again, its rows are only in the log.
      this.#catchUp.delete(query);
      query.beginCatchUp(seq);
      void this.#replan(query);
    }
  }

  async #replan(query: LiveQuery): Promise<void> {
    const request = this.#queries.get(query);
    if (request === undefined) return;
    try {
      const planned = await this.#deps.engine.describe({ ...request, language: 'sql' });
      const plan = livePlan(planned);
      if (query.hasEnded) return;
      this.#detach(query);
      query.usePlan(plan, this.#deps.engine.retainedLog.lastSeq);
      this.#attach(query);
      this.#catchUp.add(query);
    } catch (error) {
      this.#failed([query], error);
    }
  }

  #send(): void {
    const latestMs = this.#deps.clock.monotonicMs() - LEAST_WAIT_MS;
    let left = Math.max(LEAST_SERVED_COUNT, Math.ceil(this.#waiting.size / INTERVAL_COUNT));
    for (const [query, sinceMs] of this.#waiting) {
      if (sinceMs > latestMs || left-- === 0) return;
      this.#waiting.delete(query);
      query.sendRows();
    }
  }

  #computeSome(): void {
    for (const query of this.#queries.keys()) {
      if (query.needsComputing) this.#computing.add(query);
      else if (!this.#waiting.has(query)) query.sendRows(); // dropped rows, and rows held during a catch-up
    }
    if (this.#computing.size > 0 && !this.#isComputing) void this.#compute();
  }

  /** Computes results for a limited time. The remaining queries follow in the next interval. */
  async #compute(): Promise<void> {
    const { clock, statements } = this.#deps;
    this.#isComputing = true;
    const latestMs = clock.monotonicMs() + MAX_COMPUTING_MS;
    const work = async (): Promise<void> => {
      for (const query of this.#computing) {
        this.#computing.delete(query);
        if (!query.needsComputing) continue;
        await query.compute(statements).catch((error: unknown) => this.#notComputed(query, error));
        if (clock.monotonicMs() >= latestMs) return;
      }
    };
    await Promise.all(Array.from({ length: MAX_COMPUTING_COUNT }, work));
    this.#isComputing = false;
  }

  /** Handles a failed computation. If the statement could not start, its rows are read again from the log. */
  #notComputed(query: LiveQuery, error: unknown): void {
    if (!isQueueFull(error)) this.#failed([query], error);
    else if (
      !query.hasEnded &&
      query.plan.output.kind === 'computed' &&
      query.catchUp === undefined
    ) {
      query.beginCatchUp(this.#deps.engine.retainedLog.lastSeq);
      this.#catchUp.add(query);
    }
  }

  async #beat(): Promise<void> {
    const { retainedLog } = this.#deps.engine;
    const seq = retainedLog.lastSeq;
    await retainedLog.whenSettled();
    for (const query of [...this.#queries.keys()]) {
      query.sendRows();
      query.heartbeat(seq);
    }
  }

  #endInvalid(): void {
    const { catalog } = this.#deps;
    for (const query of [...this.#queries.keys()]) {
      if (!query.isLetIn()) this.#end(query, 'the token expired or was revoked');
      else if (catalog.database(query.database.name)?.id !== query.database.id)
        this.#end(query, 'the database was deleted');
      else if (catalog.tableById(query.plan.table.id) === undefined)
        this.#end(query, this.#isReplaced(query) ? TABLE_REPLACED : 'the table was deleted');
    }
  }

  #isReplaced({ database, plan: { table } }: LiveQuery): boolean {
    return this.#deps.catalog.database(database.name)?.tables.has(table.name) ?? false;
  }

  #failed(queries: readonly LiveQuery[], error: unknown): void {
    if (!tsdbError.is(error)) this.#deps.log.error({ err: error }, 'live query failed');
    const reason = tsdbError.is(error) ? error.message : 'internal error';
    for (const query of queries) this.#end(query, reason);
  }

  /** Ends all streams, so that clients reconnect after a restart. */
  end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const query of [...this.#queries.keys()]) this.#end(query, 'the server is shutting down');
  }

  async close(): Promise<void> {
    this.end();
    await this.#catchUp.close();
    await this.#logRetention.close();
  }
}
