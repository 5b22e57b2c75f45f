import type { Clock } from '@plinth/kernel';
import {
  nextRun,
  type QueryRun,
  type QueryTiming,
} from '@plinth/tsdb-influxql/continuous/query-timing.js';
import { fireOnSchedule } from '@plinth/tsdb-plugins/domain/triggers/fire-on-schedule.js';

/** A run is canceled after this time, and its intervals are computed in smaller steps. */
const MAX_RUN_MS = 300_000;
/** Maximum number of missed intervals that one run computes. */
const MAX_RUN_INTERVALS = 1000n;
/** Minimum interval. Queries with shorter intervals also run at this interval, as in InfluxDB 1.x. */
const SHORTEST_INTERVAL_NS = 1_000_000_000n;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 300_000;

export type TimeRange = Pick<QueryRun, 'fromNs' | 'toNs'>;

/** The scheduled work of a query. */
export interface QueryWork {
  readonly timing: QueryTiming;
  /** The table to which the rows are written, for lists. */
  readonly target: string;
  /** Computes the rows of a time range, and returns their number when they are durable. */
  compute(range: TimeRange, signal: AbortSignal): Promise<bigint>;
}

export interface QueryState {
  /** Start of the last run. */
  readonly lastRunNs: bigint | undefined;
  readonly lastDurationMs: number | undefined;
  /** Error of the last run; `undefined` if it succeeded. */
  readonly lastError: unknown;
  /** Rows written since the server started. */
  readonly rowCount: bigint;
}

export interface QueryRunnerDeps {
  readonly work: QueryWork;
  readonly positionNs: bigint | undefined;
  readonly clock: Clock;
  /** Queues the query, so that only a few run at a time. Does nothing if it is already queued. */
  readonly enqueue: (runner: QueryRunner) => void;
  /** Stores the position. The rows before it are durable. */
  readonly setPosition: (positionNs: bigint) => Promise<void>;
  readonly onRun: (error: unknown) => void;
  readonly onSkipped: (intervalCount: number) => void;
}

/**
 * Runs one query on its schedule. The position is stored after the rows are durable. After a crash in between, the run
 * is repeated and overwrites the same points.
 */
export class QueryRunner {
  readonly #deps: QueryRunnerDeps;
  readonly #stopped = new AbortController();
  #positionNs: bigint | undefined;
  #state: QueryState = {
    lastRunNs: undefined,
    lastDurationMs: undefined,
    lastError: undefined,
    rowCount: 0n,
  };
  #failureCount = 0;
  #retryAtMs = 0;
  #maxCount = MAX_RUN_INTERVALS;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: QueryRunnerDeps) {
    this.#deps = deps;
    this.#positionNs = deps.positionNs;
  }

  get state(): QueryState {
    return this.#state;
  }

  get positionNs(): bigint | undefined {
    return this.#positionNs;
  }

  /** Returns the time since the query became due, without a successful run. */
  lagNs(nowNs: bigint): bigint {
    if (this.#positionNs === undefined) return 0n;
    const lagNs = nowNs - this.#deps.work.timing.runEnd(this.#positionNs);
    return lagNs > 0n ? lagNs : 0n;
  }

  start(): void {
    const { clock, work, enqueue } = this.#deps;
    enqueue(this); // for the intervals that passed while the server was down
    const schedule = {
      nextNs(afterNs: bigint) {
        const dueNs = work.timing.runEnd(afterNs);
        const soonestNs = (afterNs / SHORTEST_INTERVAL_NS + 1n) * SHORTEST_INTERVAL_NS;
        return dueNs < soonestNs ? soonestNs : dueNs;
      },
    };
    void fireOnSchedule(schedule, {
      clock,
      signal: this.#stopped.signal,
      fire: () => {
        enqueue(this);
        return 0;
      },
      onSkipped: () => undefined,
    });
  }

  /** Cancels the current run. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort('stopped');
    await this.#running;
  }

  /** Computes everything that is due. Never rejects. */
  async runDue(): Promise<void> {
    this.#running = this.#running.then(() => this.#runAll());
    await this.#running;
  }

  async #runAll(): Promise<void> {
    const { clock, work } = this.#deps;
    while (!this.#stopped.signal.aborted && clock.nowMs() >= this.#retryAtMs) {
      const nowNs = clock.nowNs();
      const run = nextRun(work.timing, {
        positionNs: this.#positionNs,
        nowNs,
        maxCount: this.#maxCount,
      });
      if (run === undefined) return;
      if (run.skippedCount > 0) this.#deps.onSkipped(run.skippedCount);
      await this.#run(run, nowNs);
    }
  }

  async #run(run: QueryRun, nowNs: bigint): Promise<void> {
    const { clock, setPosition, onRun } = this.#deps;
    const isEmpty = run.toNs === run.fromNs;
    const startMs = clock.monotonicMs();
    try {
      const rowCount = isEmpty ? 0n : await this.#compute(run);
      await setPosition(run.positionNs);
      this.#positionNs = run.positionNs;
      this.#failureCount = 0;
      this.#maxCount = larger(this.#maxCount);
      if (isEmpty) return;
      this.#ended({ nowNs, startMs, rowCount, error: undefined });
      onRun(undefined);
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.#maxCount = this.#maxCount > 10n ? this.#maxCount / 10n : 1n;
      this.#ended({ nowNs, startMs, rowCount: 0n, error });
      this.#retryLater();
      onRun(error);
    }
  }

  async #compute(range: TimeRange): Promise<bigint> {
    const { clock, work } = this.#deps;
    const limit = new AbortController();
    const ended = new AbortController();
    const stopped = this.#stopped.signal;
    const signal = AbortSignal.any([stopped, limit.signal]);
    void clock.sleep(MAX_RUN_MS, ended.signal).then(
      () => limit.abort('time limit'),
      () => undefined,
    );
    try {
      return await work.compute(range, signal);
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      throw new RunTimedOut();
    } finally {
      ended.abort('ended');
    }
  }

  #ended(run: {
    readonly nowNs: bigint;
    readonly startMs: number;
    readonly rowCount: bigint;
    readonly error: unknown;
  }): void {
    this.#state = {
      lastRunNs: run.nowNs,
      lastDurationMs: this.#deps.clock.monotonicMs() - run.startMs,
      lastError: run.error,
      rowCount: this.#state.rowCount + run.rowCount,
    };
  }

  #retryLater(): void {
    const { clock, enqueue } = this.#deps;
    const pauseMs = Math.min(FIRST_RETRY_MS * 2 ** this.#failureCount, LONGEST_RETRY_MS);
    this.#failureCount++;
    this.#retryAtMs = clock.nowMs() + pauseMs;
    void clock.sleep(pauseMs, this.#stopped.signal).then(
      () => enqueue(this),
      () => undefined,
    );
  }
}

/** A run exceeded its time limit. */
export class RunTimedOut extends Error {
  override readonly name = 'RunTimedOut';

  constructor() {
    super(
      `the run was canceled after ${MAX_RUN_MS / 60_000} minutes; use a shorter FOR or fewer series`,
    );
  }
}

const larger = (count: bigint): bigint =>
  count * 10n < MAX_RUN_INTERVALS ? count * 10n : MAX_RUN_INTERVALS;
