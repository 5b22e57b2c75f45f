import { machineMemoryBytes } from '@plinth/kernel';
import { tsdbError } from '../../../errors.js';

/** Statements say the first; rows that are handed over say which block found no room. */
const OUT_OF_MEMORY = /^Out of Memory Error|could not allocate block|failed to pin block/;

/** The engine had no room for what a statement needs at a time. */
export const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && OUT_OF_MEMORY.test(error.message);

const INTERVAL_MS = 100;
/** What statements may add to the process, in memory limits of the engine: it counts its buffers alone. */
const FACTOR = 2;
/** Beyond this part of the machine's memory the process would be killed. */
const MOST_OF_MACHINE = 0.9;
/** Statements may always take this part of the engine's limit, however much the process has kept of earlier ones. */
const LEAST_FACTOR = 0.5;
/** So much the process takes for itself now and then: garbage of answers, columns in memory, a flush. */
const OWN_BYTES = 1024 * 1024 * 1024;

export interface MemoryWatchOptions {
  /** The engine's own limit. */
  readonly limitBytes: number;
  readonly residentBytes?: () => number;
  readonly machineBytes?: number;
  readonly ownBytes?: number;
}

/**
 * Stops statements when the process has grown by more than they may take, whatever holds the memory: texts and lists of rows
 * that are computed together, states of aggregates, answers. Nobody knows whose it is: all of them end. The engine heeds it
 * between two chunks.
 */
export class MemoryWatch {
  readonly #options: Required<MemoryWatchOptions>;
  readonly #running = new Set<WatchedStatement>();
  #restBytes = 0;
  #readMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = {
      residentBytes: process.memoryUsage.rss,
      machineBytes: machineMemoryBytes(),
      ownBytes: OWN_BYTES,
      ...options,
    };
  }

  /** `stop` may be called until the statement is ended. */
  begin(stop: () => void): WatchedStatement {
    if (this.#running.size === 0) this.#noteRest();
    const statement = new WatchedStatement(stop, (ended) => this.#running.delete(ended));
    this.#running.add(statement);
    this.#timer ??= setInterval(() => this.#look(), INTERVAL_MS).unref();
    return statement;
  }

  /** What the process has without statements; seldom, as it takes as long as a short one does in memory. */
  #noteRest(): void {
    const nowMs = performance.now();
    if (nowMs - this.#readMs < INTERVAL_MS) return;
    this.#readMs = nowMs;
    this.#restBytes = this.#options.residentBytes();
  }

  #look(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const { limitBytes, machineBytes, residentBytes, ownBytes } = this.#options;
    const mostBytes = Math.max(
      this.#restBytes + limitBytes * LEAST_FACTOR,
      Math.min(
        this.#restBytes + Math.max(limitBytes * FACTOR, ownBytes),
        machineBytes * MOST_OF_MACHINE,
      ),
    );
    if (residentBytes() <= mostBytes) return;
    for (const statement of this.#running) statement.stop();
    // Their end may wait for clients: whoever begins next measures anew.
    this.#running.clear();
  }
}

class WatchedStatement {
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

  /** Throws when the statement was stopped. */
  check(): void {
    if (!this.#isStopped) return;
    throw tsdbError(
      'query_out_of_memory',
      'Resources exhausted: the statements that run need more memory than the server allows (tsdb.query_memory_bytes); ask for fewer rows or columns, or shorter texts',
    );
  }
}
