import { machineMemoryBytes } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/**
 * Statements fail with the first message. Appended rows fail with the others, which name the block
 * that lacked memory.
 */
export const OUT_OF_MEMORY = /^Out of Memory Error|could not allocate block|failed to pin block/;

/**
 * Returns whether a statement failed because DuckDB ran out of memory, or because `MemoryWatch`
 * stopped the statement.
 */
export const isOutOfMemory = (error: unknown): boolean =>
  tsdbError.is(error, 'query_out_of_memory') ||
  (error instanceof Error && OUT_OF_MEMORY.test(error.message));

const INTERVAL_MS = 100;
/**
 * A stopped statement releases its memory within this number of checks, unless other statements allocate more in the
 * meantime.
 */
const RELEASE_LOOKS = 5;
/** Limit on the process growth caused by statements, as a multiple of DuckDB's memory limit, which covers only its buffers. */
const FACTOR = 2;
/** Maximum share of the machine's memory; the system would kill a process that uses more. */
const MOST_OF_MACHINE = 0.9;
/**
 * Share of DuckDB's limit that statements may always use, even if the process still holds memory of
 * earlier statements.
 */
const LEAST_FACTOR = 0.5;
/** Temporary memory of the process itself: garbage of responses, columns in memory, a flush. */
const OWN_BYTES = 1024 * 1024 * 1024;

export interface MemoryWatchOptions {
  /** DuckDB's own memory limit. */
  readonly limitBytes: number;
  readonly residentBytes?: () => number;
  readonly machineBytes?: number;
  readonly ownBytes?: number;
  /** Interval between two checks. */
  readonly intervalMs?: number;
}

/**
 * Stops statements when the process has grown by more than they may use. The memory may belong to strings and lists
 * of rows that are computed together, to aggregate states or to results. DuckDB does not report which statement uses
 * it. The youngest statement that was already running at the previous check is stopped first, because memory grew
 * while it ran. Short statements are not stopped. DuckDB handles a stop between two chunks.
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
    this.#timer ??= setInterval(() => this.#check(), this.#options.intervalMs).unref();
    return statement;
  }

  /**
   * Measures the memory of the process without statements. Rarely called, because it takes as long as a short
   * statement in memory.
   */
  #noteRest(): void {
    const nowMs = performance.now();
    if (nowMs - this.#readMs < this.#options.intervalMs) return;
    this.#readMs = nowMs;
    this.#restBytes = this.#options.residentBytes();
  }

  #check(): void {
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
    } else if (nowMs - this.#stopped.atMs > RELEASE_LOOKS * intervalMs) {
      // The allocator keeps the freed memory, and usage no longer grows. The machine limit still applies.
      const mostRestBytes = machineBytes * MOST_OF_MACHINE - limitBytes * LEAST_FACTOR;
      this.#restBytes = Math.max(this.#restBytes, Math.min(usedBytes, mostRestBytes));
      this.#stopped = undefined;
    }
    this.#noteOld();
  }

  /**
   * Returns the youngest statement that was already running at the previous check; if there is
   * none, the youngest of all.
   */
  #youngest(): WatchedStatement | undefined {
    const all = [...this.#running];
    const chosen = all.findLast(({ isOld }) => isOld) ?? all.at(-1);
    // The statement may only be waiting for its client. Such a statement uses no DuckDB memory.
    if (chosen !== undefined) this.#running.delete(chosen);
    return chosen;
  }

  #noteOld(): void {
    for (const statement of this.#running) statement.isOld = true;
  }
}

class WatchedStatement {
  /** True if the statement was already running at a check. */
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

  /** Throws if the statement was stopped. */
  check(): void {
    if (!this.#isStopped) return;
    throw tsdbError(
      'query_out_of_memory',
      'Resources exhausted: the running statements exceed the memory limit of the server (tsdb.query_memory_bytes); query fewer rows or columns, or shorter strings',
    );
  }
}
