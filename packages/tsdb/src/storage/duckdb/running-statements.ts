import { setTimeout as delay } from 'node:timers/promises';

/** A run that fails later has used much memory itself. */
const MAX_RUN_MS = 1000;
const MAX_RUN_COUNT = 4;
/** So long a statement waits for the memory of others before each further run. */
const MAX_WAIT_MS = 2000;

/** Statements of queries that run at the same time and share the memory of DuckDB. */
export class RunningStatements {
  readonly #running = new Set<RunningStatement>();

  get count(): number {
    return this.#running.size;
  }

  begin(): RunningStatement {
    const begun = new RunningStatement(this.#running);
    if (this.#running.size > 0) {
      for (const other of this.#running) other.noteCompany();
      begun.noteCompany();
    }
    this.#running.add(begun);
    return begun;
  }
}

export class RunningStatement {
  readonly #all: Set<RunningStatement>;
  #runStartMs = performance.now();
  #runCount = 1;
  readonly #ended: Promise<void>;
  #resolve: () => void = () => {};
  #hadCompany = false;

  constructor(all: Set<RunningStatement>) {
    this.#all = all;
    this.#ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  noteCompany(): void {
    this.#hadCompany = true;
  }

  /**
   * After a run found no memory: whether other statements may have taken it, so that another run is worthwhile.
   * Resolves when those that run have ended, or have had some time for it.
   */
  async mayRunAgain(signal: AbortSignal): Promise<boolean> {
    const runMs = performance.now() - this.#runStartMs;
    if (!this.#hadCompany || runMs > MAX_RUN_MS || this.#runCount >= MAX_RUN_COUNT) return false;
    const others = [...this.#all].filter((each) => each !== this);
    const late = new AbortController();
    const wait = delay(MAX_WAIT_MS, undefined, {
      signal: AbortSignal.any([late.signal, signal]),
    }).catch(() => {});
    await Promise.race([Promise.all(others.map((each) => each.#ended)), wait]);
    late.abort();
    this.#runStartMs = performance.now();
    this.#runCount++;
    return !signal.aborted;
  }

  end(): void {
    this.#all.delete(this);
    this.#resolve();
  }
}
