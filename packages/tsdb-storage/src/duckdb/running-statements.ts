import { setTimeout as delay } from 'node:timers/promises';

/** A statement that fails later than this has itself used much of the memory. */
const MAX_RUN_MS = 1000;
const MAX_RUN_COUNT = 4;
/** Maximum wait for the memory of other statements before each retry. */
const MAX_WAIT_MS = 2000;

/** Concurrent statements of queries, which share DuckDB's memory. */
export class RunningStatements {
  readonly #all = new Set<RunningStatement>();

  get count(): number {
    return this.#all.size;
  }

  begin(): RunningStatement {
    const begun = new RunningStatement(this.#all);
    if (this.#all.size > 0) {
      for (const other of this.#all) other.noteConcurrent();
      begun.noteConcurrent();
    }
    this.#all.add(begun);
    return begun;
  }
}

export class RunningStatement {
  readonly #all: Set<RunningStatement>;
  readonly #ended = new Deferred();
  #run = new Deferred();
  #runStartMs = performance.now();
  #runCount = 1;
  #wasConcurrent = false;
  #isWaiting = false;
  #hasWaitedForFiles = false;

  constructor(all: Set<RunningStatement>) {
    this.#all = all;
  }

  noteConcurrent(): void {
    this.#wasConcurrent = true;
  }

  /**
   * Call after a run was out of memory. Waits for a bounded time until running statements have
   * ended. Waiting statements are retried one after the other.
   * @returns whether a retry is worthwhile, because other statements may have used the memory.
   */
  async waitForRetry(signal: AbortSignal): Promise<boolean> {
    const runMs = performance.now() - this.#runStartMs;
    if (!this.#wasConcurrent || runMs > MAX_RUN_MS || this.#runCount >= MAX_RUN_COUNT) return false;
    const others = [...this.#all].filter((each) => each !== this);
    const running = others.filter((each) => !each.#isWaiting).map((each) => each.#run.promise);
    // The new statement waits for the last waiting one, which waits for the one before it.
    const ahead = others.filter((each) => each.#isWaiting).map((each) => each.#ended.promise);
    this.#isWaiting = true;
    this.#run.resolve();
    const late = new AbortController();
    const wait = delay(MAX_WAIT_MS, undefined, {
      signal: AbortSignal.any([late.signal, signal]),
    }).catch(() => {});
    await Promise.race([Promise.all([...running, ...ahead.slice(-1)]), wait]);
    late.abort();
    this.#isWaiting = false;
    this.#run = new Deferred();
    this.#runStartMs = performance.now();
    this.#runCount++;
    return !signal.aborted;
  }

  /** Returns true on the first call. */
  mayWaitForFiles(): boolean {
    if (this.#hasWaitedForFiles) return false;
    this.#hasWaitedForFiles = true;
    return true;
  }

  end(): void {
    this.#all.delete(this);
    this.#run.resolve();
    this.#ended.resolve();
  }
}

class Deferred {
  readonly promise: Promise<void>;
  resolve: () => void = () => {};

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}
