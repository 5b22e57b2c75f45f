import { setTimeout as delay } from 'node:timers/promises';

/** A run that fails later has used much memory itself. */
const MAX_RUN_MS = 1000;
const MAX_RUN_COUNT = 4;
/** So long a statement waits for the memory of others before each further run. */
const MAX_WAIT_MS = 2000;

/** Statements of queries that run at the same time and share the memory of DuckDB. */
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
   * After a run found no memory: waits for a bounded time until the statements that run have ended. Statements that wait run
   * again one after the other.
   * @returns whether another run is worthwhile: other statements may have taken the memory.
   */
  async waitForRetry(signal: AbortSignal): Promise<boolean> {
    const runMs = performance.now() - this.#runStartMs;
    if (!this.#wasConcurrent || runMs > MAX_RUN_MS || this.#runCount >= MAX_RUN_COUNT) return false;
    const others = [...this.#all].filter((each) => each !== this);
    const running = others.filter((each) => !each.#isWaiting).map((each) => each.#run.promise);
    // The last one that waits, which waits for the one before it.
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

  /** True once. */
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
