import type { Clock } from '@plinth/kernel';
import { tsdbError } from '../../../errors.js';

/** Shorter than clients wait for an answer. */
export const LONGEST_WAIT_MS = 2000;

/** Writes that wait for a flush to make room: a burst is slowed down before it is refused. */
export class RoomWaits {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** In the order in which they came. */
  readonly #woken = new Set<() => void>();
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
    this.#bytes += bodySizeBytes;
    await new Promise<void>((resolve) => {
      this.#woken.add(resolve);
      this.#clock.sleep(leftMs, timer.signal).then(resolve, resolve);
    }).finally(() => {
      this.#bytes -= bodySizeBytes;
      timer.abort();
    });
  }

  /** There may be room now: each looks again. */
  wake(): void {
    const woken = [...this.#woken];
    this.#woken.clear();
    for (const resolve of woken) resolve();
  }
}
