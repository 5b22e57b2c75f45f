import type { Clock } from '@plinth/kernel';

const CRASH_WINDOW_MS = 60_000;
const CRASHES_BEFORE_PAUSE = 3;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 300_000;

/** After some crashes within a minute the next process waits, longer and longer. */
export class CrashPauses {
  readonly #clock: Clock;
  /** Its abortion ends a pause. */
  readonly #closed: AbortSignal;
  #crashTimesMs: number[] = [];
  #pauseMs = FIRST_PAUSE_MS;
  #pausing: Promise<void> | undefined;

  constructor(clock: Clock, closed: AbortSignal) {
    this.#clock = clock;
    this.#closed = closed;
  }

  /** The pause under way. */
  get current(): Promise<void> | undefined {
    return this.#pausing;
  }

  /** @returns how long the pause is that begins, if one does. */
  addCrash(): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    this.#crashTimesMs = this.#crashTimesMs.filter((timeMs) => nowMs - timeMs < CRASH_WINDOW_MS);
    this.#crashTimesMs.push(nowMs);
    if (this.#crashTimesMs.length === 1) this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#crashTimesMs.length < CRASHES_BEFORE_PAUSE) return undefined;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#pausing = this.#clock
      .sleep(pauseMs, this.#closed)
      .catch(() => undefined)
      .finally(() => {
        this.#pausing = undefined;
      });
    return pauseMs;
  }
}
