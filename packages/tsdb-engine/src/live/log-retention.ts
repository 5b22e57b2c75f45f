import type { Clock, Logger } from '@plinth/kernel';
import type { RetainedLog } from './retained-log.js';

/** Log files are retained for clients that will continue, until no live query has run for this long. */
const RETAIN_MS = 3_600_000;
const CHECK_MS = 60_000;

/** Starts retaining flushed log files with the first live query, and stops when none has run for an hour. */
export class LogRetention {
  readonly #retainedLog: Pick<RetainedLog, 'startRetaining' | 'stopRetaining'>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #check: Disposable;
  /** An earlier run of the server may have had live queries. */
  #lastUsedMs: number;
  /** `unknown` until the first change, and after a failed change. */
  #state: 'started' | 'stopped' | 'unknown' = 'unknown';
  #changing = Promise.resolve();

  constructor(options: {
    readonly retainedLog: Pick<RetainedLog, 'startRetaining' | 'stopRetaining'>;
    readonly clock: Clock;
    readonly log: Logger;
    /** Whether a live query is running. */
    readonly isUsed: () => boolean;
  }) {
    this.#retainedLog = options.retainedLog;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#lastUsedMs = this.#clock.monotonicMs();
    this.#check = this.#clock.every(CHECK_MS, () => {
      if (options.isUsed()) this.noteUse();
      else if (this.#clock.monotonicMs() - this.#lastUsedMs >= RETAIN_MS) this.#change('stopped');
    });
  }

  /** Call when a live query starts, and when it ends. */
  noteUse(): void {
    this.#lastUsedMs = this.#clock.monotonicMs();
    this.#change('started');
  }

  async close(): Promise<void> {
    this.#check[Symbol.dispose]();
    await this.#changing;
  }

  /** After a failure, clients may receive `gap` when they continue, and the next call retries. */
  #change(state: 'started' | 'stopped'): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#changing = this.#changing
      .then(() =>
        state === 'started'
          ? this.#retainedLog.startRetaining()
          : this.#retainedLog.stopRetaining(),
      )
      .catch((error: unknown) => {
        this.#state = 'unknown';
        this.#log.warn({ err: error }, 'cannot retain or delete log files for live queries');
      });
  }
}
