import { performance } from 'node:perf_hooks';
import type { Clock } from './clock.js';
import { repeat } from './repeat.js';

/** Wall-clock nanoseconds at the moment the monotonic counter was at zero. */
const originNs = (): bigint => BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();

/** How far ahead of the system's wall clock, which shows whole milliseconds, the computed one may stand. */
const MAX_AHEAD_NS = 1_500_000n;

/** Time of this machine. Nanoseconds come from the monotonic counter, pinned to the wall clock. */
export class SystemClock implements Clock {
  #originNs = originNs();

  nowMs(): number {
    return Date.now();
  }

  nowNs(): bigint {
    // In this order, so that a pause between the two cannot make the computed clock look late.
    const wallNs = BigInt(Date.now()) * 1_000_000n;
    const driftNs = this.#originNs + process.hrtime.bigint() - wallNs;
    if (driftNs >= 0n && driftNs < MAX_AHEAD_NS) return wallNs + driftNs;
    // Never behind: pinned to a cut millisecond the clock is late at first, and meets the right time at the next edges.
    this.#originNs -= driftNs;
    return wallNs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    // By hand: the promises of `node:timers` make an error with a stack for every sleep that is given up.
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
