import { machineMemoryBytes } from '@plinth/kernel';
import { tsdbError } from '../../../errors.js';

/** The first form is an error of statements; the others are errors of appenders. */
export const OUT_OF_MEMORY = /^Out of Memory Error|could not allocate block|failed to pin block/;

/** Whether DuckDB ran out of memory for a statement, or `MemoryWatch` stopped it. */
export const isOutOfMemory = (error: unknown): boolean =>
  tsdbError.is(error, 'query_out_of_memory') ||
  (error instanceof Error && OUT_OF_MEMORY.test(error.message));

const INTERVAL_MS = 100;
/** Time in which a stopped statement releases its memory, unless others allocate more meanwhile. */
const RELEASE_MS = 500;
/**
 * Allowed growth of the process through statements, as a multiple of DuckDB's memory limit, which
 * covers only its buffers.
 */
const FACTOR = 2;
/** Share of the machine's memory above which the process would be killed. */
const MOST_OF_MACHINE = 0.9;
/**
 * Share of DuckDB's limit that statements may always use, regardless of memory kept from earlier
 * ones.
 */
const LEAST_FACTOR = 0.5;
/**
 * Memory that the process occasionally uses for other purposes: garbage of results, columns in
 * memory, a flush.
 */
const OWN_BYTES = 1024 * 1024 * 1024;

export interface MemoryWatchOptions {
  /** DuckDB's memory limit. */
  readonly limitBytes: number;
  readonly residentBytes?: () => number;
  readonly machineBytes?: number;
  readonly ownBytes?: number;
  /** Between two looks. */
  readonly intervalMs?: number;
}

/**
 * Stops statements when the process has grown by more than they may use. This includes strings and
 * lists of rows computed together, aggregate states and results. DuckDB does not report which
 * statement uses the memory. The youngest statement that was running at the previous check is
 * stopped first, because memory grew while it ran; shorter ones are not. DuckDB reacts to a stop
 * between two chunks.
 */
export class MemoryWatch {
  readonly #options: Required<MemoryWatchOptions>;
  readonly #running = new Set<WatchedStatement>();
  #restBytes = 0;
  #readMs = Number.NEGATIVE_INFINITY;
  #stopped: { readonly atMs: number; readonly usedBytes: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = {
      residentBytes: process.memoryUsage.rss,
      machineBytes: machineMemoryBytes(),
      ownBytes: OWN_BYTES,
      intervalMs: INTERVAL_MS,
      ...options,
    };
  }

  /** `stop` may be called until the statement has ended. */
  begin(stop: () => void): WatchedStatement {
    if (this.#running.size === 0) this.#noteRest();
    const statement = new WatchedStatement(stop, (ended) => this.#running.delete(ended));
    this.#running.add(statement);
    this.#timer ??= setInterval(() => this.#look(), this.#options.intervalMs).unref();
    return statement;
  }

  /**
   * Measures the process without statements. It is done rarely, because it takes as long as a short
   * query in memory.
   */
  #noteRest(): void {
    const nowMs = performance.now();
    if (nowMs - this.#readMs < this.#options.intervalMs) return;
    this.#readMs = nowMs;
    this.#restBytes = this.#options.residentBytes();
  }

  #look(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const { limitBytes, machineBytes, residentBytes, ownBytes, intervalMs } = this.#options;
    const mostBytes = Math.max(
      this.#restBytes + limitBytes * LEAST_FACTOR,
      Math.min(
        this.#restBytes + Math.max(limitBytes * FACTOR, ownBytes),
        machineBytes * MOST_OF_MACHINE,
      ),
    );
    const usedBytes = residentBytes();
    if (usedBytes <= mostBytes) {
      this.#stopped = undefined;
      this.#noteOld();
      return;
    }
    const nowMs = performance.now();
    if (this.#stopped === undefined || usedBytes > this.#stopped.usedBytes) {
      this.#youngest()?.stop();
      this.#stopped = { atMs: nowMs, usedBytes };
    } else if (nowMs - this.#stopped.atMs > RELEASE_MS) {
      // The allocator keeps the freed memory, and usage no longer grows. The limit of the machine
      // still applies.
      const mostRestBytes = machineBytes * MOST_OF_MACHINE - limitBytes * LEAST_FACTOR;
      this.#restBytes = Math.max(this.#restBytes, Math.min(usedBytes, mostRestBytes));
      this.#stopped = undefined;
    }
    this.#noteOld();
  }

  /** Returns the youngest statement of the previous check, or of all if there is none. */
  #youngest(): WatchedStatement | undefined {
    const all = [...this.#running];
    const chosen = all.findLast(({ isOld }) => isOld) ?? all.at(-1);
    // The statement may end only after its client reads on, but it no longer uses DuckDB memory.
    if (chosen !== undefined) this.#running.delete(chosen);
    return chosen;
  }

  #noteOld(): void {
    for (const statement of this.#running) statement.isOld = true;
  }
}

class WatchedStatement {
  /** True if it was running at an earlier check. */
  isOld = false;
  readonly #stop: () => void;
  readonly #onEnd: (ended: WatchedStatement) => void;
  #isStopped = false;

  constructor(stop: () => void, onEnd: (ended: WatchedStatement) => void) {
    this.#stop = stop;
    this.#onEnd = onEnd;
  }

  stop(): void {
    this.#isStopped = true;
    this.#stop();
  }

  end(): void {
    this.#onEnd(this);
  }

  /** Throws `query_out_of_memory` if the statement was stopped. */
  check(): void {
    if (!this.#isStopped) return;
    throw tsdbError(
      'query_out_of_memory',
      'Resources exhausted: the running statements need more memory than the server allows (tsdb.query_memory_bytes); query fewer rows or columns, or shorter strings',
    );
  }
}
