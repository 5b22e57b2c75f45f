import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.js';
import { repeat } from './repeat.js';

/** Wall-clock nanoseconds when the monotonic counter was zero. */
const originNs = (): bigint => BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();

/** The maximum lead of the computed clock over the system's wall clock, which has a resolution of 1 ms. */
const MAX_AHEAD_NS = 1_500_000n;

/** The time of this machine. Nanoseconds come from the monotonic counter, aligned to the wall clock. */
export class SystemClock implements Clock {
  #originNs = originNs();

  nowMs(): number {
    return Date.now();
  }

  nowNs(): bigint {
    // In this order, a pause between the two reads cannot make the computed clock look slow.
    const wallNs = BigInt(Date.now()) * 1_000_000n;
    const driftNs = this.#originNs + process.hrtime.bigint() - wallNs;
    if (driftNs >= 0n && driftNs < MAX_AHEAD_NS) return wallNs + driftNs;
    // The first alignment is up to 1 ms late, because the wall clock is truncated. Later calls correct this.
    this.#originNs -= driftNs;
    return wallNs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    // Not `node:timers/promises`, which creates an error with a stack for every aborted sleep.
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const stop = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  every(intervalMs: number, run: () => void | Promise<void>): Disposable {
    return repeat(intervalMs, run, (ms, fire) => {
      const timer = setTimeout(fire, ms);
      timer.unref();
      return () => clearTimeout(timer);
    });
  }
}
