import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './clock.js';
import { repeat } from './repeat.js';

/** Wall-clock nanoseconds at the moment the monotonic counter was at zero. */
const originNs = (): bigint => BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();

/** How far the computed wall clock may stand from the system's before it is set again (steps, slewing, sleep). */
const MAX_DRIFT_NS = 1_500_000n;

/** Time of this machine. Nanoseconds come from the monotonic counter, pinned to the wall clock. */
export class SystemClock implements Clock {
  #originNs = originNs();

  nowMs(): number {
    return Date.now();
  }

  nowNs(): bigint {
    const ns = this.#originNs + process.hrtime.bigint();
    const driftNs = ns - BigInt(Date.now()) * 1_000_000n;
    // Date.now() cuts to milliseconds, so up to one millisecond ahead of it is exact.
    if (driftNs > -MAX_DRIFT_NS && driftNs < MAX_DRIFT_NS) return ns;
    this.#originNs = originNs();
    return this.#originNs + process.hrtime.bigint();
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    try {
      await delay(delayMs, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // The timer wraps the reason in an AbortError of its own; callers are promised the reason.
      throw signal?.aborted ? signal.reason : error;
    }
  }

  every(intervalMs: number, run: () => void | Promise<void>): Disposable {
    return repeat(intervalMs, run, (ms, fire) => {
      const timer = setTimeout(fire, ms);
      timer.unref();
      return () => clearTimeout(timer);
    });
  }
}
