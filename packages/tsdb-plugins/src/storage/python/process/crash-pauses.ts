import type { Clock } from '@plinth/kernel';

const CRASH_WINDOW_MS = 60_000;
const CRASHES_BEFORE_PAUSE = 3;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 300_000;
/** Maximum number of crashes, and therefore process starts, per second for requests. */
const CRASHES_A_SECOND = 10;
const SECOND_MS = 1000;

/**
 * Pauses of a worker between processes that crash. Runs without a waiting client wait longer each
 * time. Requests wait only long enough to limit process starts; they are refused if processes fail
 * to start.
 */
export class CrashPauses {
  readonly #clock: Clock;
  /** Aborting it ends a pause. */
  readonly #closed: AbortSignal;
  #crashTimesMs: number[] = [];
  #pauseMs = FIRST_PAUSE_MS;
  #pausing: { readonly over: Promise<void>; readonly endMs: number } | undefined;
  #failedStartCount = 0;
  #lastEnd = '';

  constructor(clock: Clock, closed: AbortSignal) {
    this.#clock = clock;
    this.#closed = closed;
  }

  /** The current pause, for runs without a waiting client. */
  get current(): Promise<void> | undefined {
    return this.#pausing?.over;
  }

  /** Message about the current pause. */
  get reason(): string {
    return `runs wait up to ${this.#secondsLeft} s: the plugin's process died ${this.#crashTimesMs.length} times within a minute, most recently: ${this.#lastEnd}`;
  }

  /** Returns why requests are refused; `undefined` if they are not. */
  get refusal(): { readonly text: string; readonly retryAfterSec: number } | undefined {
    if (this.#pausing === undefined || this.#failedStartCount < CRASHES_BEFORE_PAUSE) {
      return undefined;
    }
    const text = `the plugin cannot be started: ${this.#lastEnd}`;
    return { text, retryAfterSec: this.#secondsLeft };
  }

  /** Remaining wait before a request runs; always less than a second. */
  get requestWaitMs(): number {
    const firstMs = this.#crashTimesMs.at(-CRASHES_A_SECOND);
    if (firstMs === undefined) return 0;
    return Math.max(0, firstMs + SECOND_MS - this.#clock.monotonicMs());
  }

  get #secondsLeft(): number {
    const leftMs = (this.#pausing?.endMs ?? 0) - this.#clock.monotonicMs();
    return Math.max(1, Math.ceil(leftMs / SECOND_MS));
  }

  /** Call when a process has started, even if it crashes later. */
  started(): void {
    this.#failedStartCount = 0;
  }

  /** @returns the length of the pause that starts, if one does. */
  addCrash(crash: { readonly end: string; readonly hadStarted: boolean }): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    this.#lastEnd = crash.end;
    if (!crash.hadStarted) this.#failedStartCount++;
    this.#crashTimesMs = this.#crashTimesMs.filter((timeMs) => nowMs - timeMs < CRASH_WINDOW_MS);
    this.#crashTimesMs.push(nowMs);
    if (this.#crashTimesMs.length === 1) this.#pauseMs = FIRST_PAUSE_MS;
    // Requests run during a pause, but their crashes do not extend it.
    if (this.#crashTimesMs.length < CRASHES_BEFORE_PAUSE || this.#pausing) return undefined;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    const over = this.#clock
      .sleep(pauseMs, this.#closed)
      .catch(() => undefined)
      .finally(() => {
        this.#pausing = undefined;
      });
    this.#pausing = { over, endMs: nowMs + pauseMs };
    return pauseMs;
  }
}
