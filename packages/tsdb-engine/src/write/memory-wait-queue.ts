import type { Clock } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

/** Maximum wait of a write, shorter than client timeouts. */
export const LONGEST_WAIT_MS = 2000;

/**
 * Writes that wait for a flush to free memory: bursts are slowed down before writes are rejected.
 */
export class MemoryWaitQueue {
  readonly #clock: Clock;
  readonly #maxBytes: number;
  /** Timers of the waiting writes, in order of arrival. */
  readonly #timers = new Set<AbortController>();
  #bytes = 0;

  /** @param maxBytes total size of all waiting bodies. */
  constructor(clock: Clock, maxBytes: number) {
    this.#clock = clock;
    this.#maxBytes = maxBytes;
  }

  /**
   * Resolves when enough memory may be free, or at `latestMs`.
   * @param latestMs time of the monotonic clock.
   * @throws `buffer_full` if that time has passed or too many bodies are waiting.
   */
  async next(bodySizeBytes: number, latestMs: number): Promise<void> {
    const leftMs = latestMs - this.#clock.monotonicMs();
    if (leftMs <= 0 || this.#bytes + bodySizeBytes > this.#maxBytes) {
      throw tsdbError('buffer_full', { retryAfterSec: 1 });
    }
    const timer = new AbortController();
    this.#timers.add(timer);
    this.#bytes += bodySizeBytes;
    // The timer rejects when `wake` aborts it.
    await this.#clock.sleep(leftMs, timer.signal).catch(() => undefined);
    this.#timers.delete(timer);
    this.#bytes -= bodySizeBytes;
  }

  /** Wakes all waiting writes, which then check again whether enough memory is free. */
  wake(): void {
    for (const timer of this.#timers) timer.abort();
  }
}
