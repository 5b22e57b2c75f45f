import type { Clock } from '@plinth/kernel';
import { tsdbError } from '../../../errors.js';

/** Shorter than clients wait for an answer. */
export const LONGEST_WAIT_MS = 2000;

/** Writes that wait for a flush to make room: a burst is slowed down before it is refused. */
export class RoomWaits {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** Of those that wait, in the order in which they came. */
  readonly #timers = new Set<AbortController>();
  #bytes = 0;

  /** @param maxBytes of all bodies that wait. */
  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /**
   * Resolves when there may be room, or at the latest time.
   * @param latestMs of the monotonic clock.
   * @throws `buffer_full` when it is over, or too many wait.
   */
  async next(bodySizeBytes: number, latestMs: number): Promise<void> {
    const leftMs = latestMs - this.#clock.monotonicMs();
    if (leftMs <= 0 || this.#bytes + bodySizeBytes > this.#maxBytes) {
      throw tsdbError('buffer_full', { retryAfterSec: 1 });
    }
    const timer = new AbortController();
    this.#timers.add(timer);
    this.#bytes += bodySizeBytes;
    await this.#clock.sleep(leftMs, timer.signal).catch(() => undefined); // woken
    this.#timers.delete(timer);
    this.#bytes -= bodySizeBytes;
  }

  get count(): number {
    return this.#timers.size;
  }

  /** There may be room now: each looks again. */
  wake(): void {
    for (const timer of this.#timers) timer.abort();
  }
}
