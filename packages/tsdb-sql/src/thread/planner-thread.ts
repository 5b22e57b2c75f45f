import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type {
  PlanContext,
  ScannedTable,
  VirtualTable,
} from '@plinth/tsdb-model/query/planned-query.js';
import type { ScanRequest } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import type { SerializedPlan } from '../statement-planner.js';
import {
  errorFrom,
  failureOf,
  type PlannerJob,
  type PlannerReply,
  type PlannerRequest,
  type PlannerSettings,
  type Reply,
  type Result,
  type SentPlan,
  type SourceReference,
  type WrittenRows,
} from './planner-messages.js';

/** Maximum number of queued statements; more are rejected. */
const MAX_WAITING = 64;
/**
 * Maximum wall-clock time of a statement. Step limits stop it after several seconds of CPU time, so this applies only
 * to threads that receive little CPU time.
 */
const MAX_DURATION_MS = 30_000;
/**
 * Heap limit of the thread. The tree of a text with a million characters takes about half of it.
 */
const MAX_HEAP_MIB = 1024;
/** Idle time after which the thread is stopped to release its memory. */
const MAX_IDLE_MS = 10_000;

const TOO_MUCH =
  'SQL error: ParserError("the statement is too complex; shorten it, or nest its expressions, parentheses and queries less deeply")';

interface Job {
  readonly text: string;
  readonly context: PlanContext;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (plan: SerializedPlan) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread for plans that are too expensive for the main thread. It starts on demand, stops after
 * an idle period, and is terminated if a statement takes too long.
 */
export class PlannerThread {
  readonly #waiting: Job[] = [];
  #running: Running | undefined;
  #thread: Thread | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * Throws the errors of planning, `plan_error` for too much effort, `query_queue_full`, and
   * `query_cancelled` if `signal` aborts.
   */
  plan(text: string, context: PlanContext, signal?: AbortSignal): Promise<SerializedPlan> {
    if (this.#isClosed) return Promise.reject(tsdbError('shutting_down'));
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(tsdbError('query_queue_full'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, context, signal, resolve, reject });
      this.#next();
    });
  }

  /** Stops the thread and rejects pending statements. May be called more than once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    const jobs = this.#waiting.splice(0);
    for (const job of jobs) job.reject(tsdbError('shutting_down'));
    this.#running?.fail(tsdbError('shutting_down'));
    this.#running = undefined;
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.worker.terminate();
  }

  #next(): void {
    if (this.#running !== undefined) return;
    const job = this.#waiting.shift();
    if (job === undefined) {
      this.#rest();
      return;
    }
    if (job.signal?.aborted) {
      job.reject(endOfQuery(job.signal));
      this.#next();
      return;
    }
    clearTimeout(this.#idleTimer);
    this.#thread ??= this.#start();
    this.#running = this.#run(job, this.#thread);
  }

  #run(job: Job, thread: Thread): Running {
    const { text, context } = job;
    const sources: ScannedTable[] = [];
    const timer = setTimeout(() => this.#giveUp(thread), MAX_DURATION_MS);
    thread.worker.ref();
    thread.worker.postMessage({
      text,
      nowNs: context.nowNs,
      params: context.params,
      lookbackNs: context.lookbackNs ?? 0n,
      systemTableNames: context.virtualTables.systemTableNames,
      formerTables: context.database.formerTables,
    } satisfies PlannerJob);
    const end = (): void => {
      clearTimeout(timer);
      thread.worker.unref();
    };
    return {
      compute: (request) => resultOf(request, context, sources),
      settle(reply) {
        end();
        if ('plan' in reply) job.resolve(restored(reply.plan, context, sources));
        else if (reply.failure.kind === 'too_much') job.reject(tsdbError('plan_error', TOO_MUCH));
        else job.reject(errorFrom(reply.failure));
      },
      fail(error) {
        end();
        job.reject(error);
      },
    };
  }

  #start(): Thread {
    const { port1, port2 } = new MessageChannel();
    const replyCount = new SharedArrayBuffer(4);
    const worker = new Worker(new URL('./planner-worker.js', import.meta.url), {
      name: 'sql-planner',
      workerData: { requestPort: port2, replyCount } satisfies PlannerSettings,
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    const thread: Thread = { worker, requestPort: port1 };
    worker.on('message', (reply: PlannerReply) => {
      if (this.#thread !== thread) return;
      const running = this.#running;
      this.#running = undefined;
      running?.settle(reply);
      this.#next();
    });
    // The thread ran out of memory or has a bug. Either way, this statement is rejected, and the next one runs in a new thread.
    worker.on('error', () => this.#giveUp(thread));
    worker.on('exit', () => this.#giveUp(thread));
    const counter = new Int32Array(replyCount);
    port1.on('message', (request: PlannerRequest) => {
      const reply = replyTo(() => this.#running?.compute(request));
      port1.postMessage(reply);
      Atomics.add(counter, 0, 1);
      Atomics.notify(counter, 0);
    });
    port1.unref();
    return thread;
  }

  #giveUp(thread: Thread): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    thread.requestPort.close();
    void thread.worker.terminate();
    const running = this.#running;
    this.#running = undefined;
    running?.fail(tsdbError('plan_error', TOO_MUCH));
    this.#next();
  }

  #rest(): void {
    clearTimeout(this.#idleTimer);
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#idleTimer = setTimeout(() => {
      this.#thread = undefined;
      thread.requestPort.close();
      void thread.worker.terminate();
    }, MAX_IDLE_MS);
    this.#idleTimer.unref();
  }
}

interface Thread {
  readonly worker: Worker;
  readonly requestPort: MessagePort;
}

/** The statement that the thread is planning. */
interface Running {
  compute(request: PlannerRequest): Result;
  settle(reply: PlannerReply): void;
  fail(error: unknown): void;
}

function replyTo(result: () => Result): Reply {
  try {
    return { result: result() };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

function resultOf(
  request: PlannerRequest,
  { database, virtualTables }: PlanContext,
  sources: ScannedTable[],
): Result {
  switch (request.kind) {
    case 'table_names':
      return [...database.tables.keys()];
    case 'table':
      return database.tables.get(request.name);
    case 'virtual_table':
      return writtenRows(virtualTables.table(request.schema, request.name));
    case 'table_function': {
      const found = virtualTables.tableFunction(request.name, request.args);
      return found !== undefined && 'source' in found
        ? referenceTo(found, sources)
        : writtenRows(found);
    }
  }
}

function writtenRows(table: VirtualTable | undefined): WrittenRows | undefined {
  return table && { columns: table.columns, otherNames: table.otherNames, rows: table.rows() };
}

function referenceTo(found: ScannedTable, sources: ScannedTable[]): SourceReference {
  sources.push(found);
  return { sourceIndex: sources.length - 1, table: found.table };
}

/** Returns the plan with the tables and sources of the main thread. */
function restored(
  plan: SentPlan,
  { database }: PlanContext,
  sources: readonly ScannedTable[],
): SerializedPlan {
  const scans = plan.scans.map(({ from, ...scan }): ScanRequest => {
    if ('sourceIndex' in from) return { ...scan, ...(sources[from.sourceIndex] as ScannedTable) };
    // The thread names only tables that it received from this database.
    return { ...scan, table: database.tables.get(from.tableName) as TableSchema };
  });
  return { ...plan, scans };
}
