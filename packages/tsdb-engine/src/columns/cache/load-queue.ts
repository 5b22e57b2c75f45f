import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Duration for which loads pause after a query, because clients that query often will soon query
 * again.
 */
const AFTER_QUERY_MS = 5;
/** Maximum total pause of a load, regardless of the number of queries. */
const LONGEST_WAIT_MS = 25;

/** Runs column loads one after another; loads that a query is waiting for come first. */
export class LoadQueue {
  readonly #urgent: (() => Promise<void>)[] = [];
  readonly #others: (() => Promise<void>)[] = [];
  #isRunning = false;
  #isUrgent = false;
  readonly #nowMs: () => number;
  #lastQueryMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Settles like the promise of `work`. */
  add(work: () => Promise<void>, isUrgent: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      (isUrgent ? this.#urgent : this.#others).push(() => work().then(resolve, reject));
      if (!this.#isRunning) void this.#run();
    });
  }

  noteQuery(): void {
    this.#lastQueryMs = this.#nowMs();
  }

  /** Time since the last query. */
  get idleMs(): number {
    return this.#nowMs() - this.#lastQueryMs;
  }

  /**
   * Called by the running load. Gives precedence to queries, unless a query waits for this load or
   * for a load queued behind it.
   */
  async pauseForQueries(): Promise<void> {
    for (let waitedMs = 0; waitedMs < LONGEST_WAIT_MS; waitedMs += AFTER_QUERY_MS) {
      const isAwaited = this.#isUrgent || this.#urgent.length > 0;
      if (isAwaited || this.idleMs >= AFTER_QUERY_MS) return;
      await sleep(AFTER_QUERY_MS);
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      this.#isUrgent = this.#urgent.length > 0;
      const next = this.#urgent.shift() ?? this.#others.shift();
      if (next === undefined) break;
      await next();
    }
    this.#isRunning = false;
  }
}
