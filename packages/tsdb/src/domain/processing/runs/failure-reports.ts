import type { Clock } from '@plinth/kernel';

/** At most one report in this time; what fails meanwhile is counted. Source: webhooks, "Internal events". */
const PAUSE_MS = 10_000;

export interface FailureReport {
  /** Of the latest failure. */
  readonly message: string;
  /** When that was. */
  readonly at: string;
  /** Runs that failed since the last report. */
  readonly count: number;
}

/** Tells others of failed runs of one trigger, some at a time. */
export class FailureReports {
  readonly #clock: Clock;
  readonly #report: (report: FailureReport) => Promise<void>;
  readonly #onLost: (error: unknown) => void;
  readonly #closed = new AbortController();
  #waiting: FailureReport | undefined;
  #isPausing = false;

  constructor(options: {
    readonly clock: Clock;
    readonly report: (report: FailureReport) => Promise<void>;
    readonly onLost: (error: unknown) => void;
  }) {
    this.#clock = options.clock;
    this.#report = options.report;
    this.#onLost = options.onLost;
  }

  add(message: string): void {
    const at = new Date(this.#clock.nowMs()).toISOString();
    this.#waiting = { message, at, count: (this.#waiting?.count ?? 0) + 1 };
    if (!this.#isPausing) void this.#send();
  }

  /** What waits is told of at once. */
  close(): void {
    this.#closed.abort('closed');
  }

  async #send(): Promise<void> {
    this.#isPausing = true;
    while (this.#waiting !== undefined) {
      const report = this.#waiting;
      this.#waiting = undefined;
      await this.#report(report).catch(this.#onLost);
      // Closing ends the pause; what came in it is sent in the next round.
      await this.#clock.sleep(PAUSE_MS, this.#closed.signal).catch(() => undefined);
    }
    this.#isPausing = false;
  }
}
