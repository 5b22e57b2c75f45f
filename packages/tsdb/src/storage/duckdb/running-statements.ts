import { setTimeout as delay } from 'node:timers/promises';

/** A statement that fails later has used much memory itself. */
const MAX_AGE_MS = 1000;
/** So long it waits for the memory of others. */
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
  readonly #startMs = performance.now();
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
   * After the statement found no memory: whether another one may have taken it, so that it is worth running once more.
   * Resolves when those that still run have ended, or have had some time for it.
   */
  async mayRunAgain(signal: AbortSignal): Promise<boolean> {
    if (!this.#hadCompany || performance.now() - this.#startMs > MAX_AGE_MS) return false;
    const others = [...this.#all].filter((each) => each !== this);
    const late = new AbortController();
    const wait = delay(MAX_WAIT_MS, undefined, {
      signal: AbortSignal.any([late.signal, signal]),
    }).catch(() => {});
    await Promise.race([Promise.all(others.map((each) => each.#ended)), wait]);
    late.abort();
    return !signal.aborted;
  }

  end(): void {
    this.#all.delete(this);
    this.#resolve();
  }
}
