import type { Clock } from '@plinth/kernel';

/**
 * Minimum time between two reports. Failures in between are counted. Source: webhooks, "Internal
 * events".
 */
const PAUSE_MS = 10_000;

export interface FailureReport {
  /** Message of the latest failure. */
  readonly message: string;
  /** Time of the latest failure. */
  readonly at: string;
  /** Runs that failed since the last report. */
  readonly count: number;
}

/** Reports the failed runs of one trigger, with a minimum pause between reports. */
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

  /** Sends the pending report immediately. */
  close(): void {
    this.#closed.abort('closed');
  }

  async #send(): Promise<void> {
    this.#isPausing = true;
    while (this.#waiting !== undefined) {
      const report = this.#waiting;
      this.#waiting = undefined;
      await this.#report(report).catch(this.#onLost);
      // Closing ends the pause. Failures during the pause are sent in the next iteration.
      await this.#clock.sleep(PAUSE_MS, this.#closed.signal).catch(() => undefined);
    }
    this.#isPausing = false;
  }
}
