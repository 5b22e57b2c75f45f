import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@plinth/kernel';

/** The silence is looked at so often; a turn of the event loop that takes longer counts twice this. */
const STEP_MS = 10;
/** A call waits so many times longer, at most, while a server that is behind answers others. */
const MAX_TIMEOUTS = 20;

/** The server has said nothing for as long as it may, or nothing to one call for far longer. */
export class RedisSilent extends Error {
  override readonly name = 'RedisSilent';
  constructor(timeoutMs: number) {
    super(`Redis says nothing for ${timeoutMs} ms, or does not keep up`);
  }
}

interface Waiting {
  /** In attended time. */
  readonly askedMs: number;
  give(error: RedisSilent): void;
}

/**
 * Gives calls up when the server is silent for `timeoutMs`. Neither time in which this process did not look counts in full
 * (answers wait unread meanwhile), nor time in which the server answers others (it takes calls in their order): a burst of
 * thousands is no outage.
 */
export class CallWatch {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  /** Time that passed while this process looked. */
  #attendedMs = 0;
  #heardMs = 0;
  #isLooking = false;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Rejects with `RedisSilent` and with what the call itself does.
   * @param onLate hears the answer to a call that was given up: the server has done what it was asked for.
   */
  watch<T>(call: Promise<T>, onLate?: (answer: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { askedMs: this.#attendedMs, give: reject };
      this.#waiting.add(waiting);
      const end = (): boolean => {
        this.heard();
        return this.#waiting.delete(waiting);
      };
      call.then(
        (answer) => {
          if (end()) resolve(answer);
          else onLate?.(answer);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
      if (!this.#isLooking) void this.#look();
    });
  }

  /** The server has said something: to one of the calls, or to the first of many that are told together. */
  heard(): void {
    this.#heardMs = this.#attendedMs;
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    for (let left = this.#leftMs(); left !== undefined; left = this.#leftMs()) {
      const stepMs = Math.min(STEP_MS, Math.max(1, left));
      const startMs = this.#clock.monotonicMs();
      await this.#clock.sleep(stepMs);
      // What has come in meanwhile is read before this resolves.
      await setImmediate();
      this.#attendedMs += Math.min(this.#clock.monotonicMs() - startMs, 2 * stepMs);
      this.#giveUp();
    }
    this.#isLooking = false;
  }

  /** Until the oldest call is to be given up; `undefined`: none waits. */
  #leftMs(): number | undefined {
    const [oldest] = this.#waiting;
    return oldest && this.#giveUpAtMs(oldest) - this.#attendedMs;
  }

  #giveUpAtMs({ askedMs }: Waiting): number {
    const silentMs = Math.max(askedMs, this.#heardMs) + this.#timeoutMs;
    return Math.min(silentMs, askedMs + MAX_TIMEOUTS * this.#timeoutMs);
  }

  #giveUp(): void {
    for (const waiting of this.#waiting) {
      if (this.#giveUpAtMs(waiting) > this.#attendedMs) return;
      this.#waiting.delete(waiting);
      waiting.give(new RedisSilent(this.#timeoutMs));
    }
  }
}
