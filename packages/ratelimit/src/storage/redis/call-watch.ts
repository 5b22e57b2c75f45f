import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@plinth/kernel';

/** Interval of the timeout check. A longer event-loop tick counts as at most twice this. */
const STEP_MS = 10;
/** Maximum extension of a call's timeout while an overloaded server responds to other calls. */
const MAX_TIMEOUTS = 20;

/** The server did not respond within the timeout, or did not respond to one call for far longer. */
export class RedisSilent extends Error {
  override readonly name = 'RedisSilent';
  constructor(timeoutMs: number) {
    super(`Redis did not respond within ${timeoutMs} ms`);
  }
}

interface Waiting {
  /** Counted only while the event loop was responsive. */
  readonly sentMs: number;
  give(error: RedisSilent): void;
}

/**
 * Rejects calls when the server does not respond for `timeoutMs`.
 * Time in which this process is blocked does not count fully, because responses wait unread.
 * Time in which the server responds to other calls does not count either, since it processes calls
 * in order: a burst of thousands is not an outage.
 */
export class CallWatch {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();
  /** Time that passed while the event loop was responsive. */
  #attendedMs = 0;
  #heardMs = 0;
  #isChecking = false;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Settles like `call`, or rejects with `RedisSilent` if the server does not respond in time.
   * @param onLate receives the response to a call that was already rejected; the server has
   *   executed that call.
   */
  watch<T>(call: Promise<T>, onLate?: (response: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { sentMs: this.#attendedMs, give: reject };
      this.#waiting.add(waiting);
      const end = (): boolean => {
        this.heard();
        return this.#waiting.delete(waiting);
      };
      call.then(
        (response) => {
          if (end()) resolve(response);
          else onLate?.(response);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
      if (!this.#isChecking) void this.#check();
    });
  }

  /** Records any response of the server, to one call or to the first of a pipeline. */
  heard(): void {
    this.#heardMs = this.#attendedMs;
  }

  async #check(): Promise<void> {
    this.#isChecking = true;
    for (let left = this.#leftMs(); left !== undefined; left = this.#leftMs()) {
      const stepMs = Math.min(STEP_MS, Math.max(1, left));
      const startMs = this.#clock.monotonicMs();
      await this.#clock.sleep(stepMs);
      // Pending responses are read before this resolves.
      await setImmediate();
      this.#attendedMs += Math.min(this.#clock.monotonicMs() - startMs, 2 * stepMs);
      this.#giveUp();
    }
    this.#isChecking = false;
  }

  /** Returns the number of milliseconds until the oldest call times out; `undefined` if none is pending. */
  #leftMs(): number | undefined {
    const [oldest] = this.#waiting;
    return oldest && this.#giveUpAtMs(oldest) - this.#attendedMs;
  }

  #giveUpAtMs({ sentMs }: Waiting): number {
    const silentMs = Math.max(sentMs, this.#heardMs) + this.#timeoutMs;
    return Math.min(silentMs, sentMs + MAX_TIMEOUTS * this.#timeoutMs);
  }

  #giveUp(): void {
    for (const waiting of this.#waiting) {
      if (this.#giveUpAtMs(waiting) > this.#attendedMs) return;
      this.#waiting.delete(waiting);
      waiting.give(new RedisSilent(this.#timeoutMs));
    }
  }
}
