import { performance } from 'node:perf_hooks';
import type { startServer } from '@plinth/server';

type Clock = NonNullable<Parameters<typeof startServer>[0]['clock']>;

/** When the clocks showed the current time. All clocks of a process with the same speed show the same time. */
const START_MS = Date.now();
const STARTED_MS = performance.now();

/** A clock that runs `speed` times faster than the system's clock. */
export class FastClock implements Clock {
  readonly #speed: number;

  constructor(speed: number) {
    this.#speed = speed;
  }

  nowMs(): number {
    return Math.floor(START_MS + this.monotonicMs());
  }

  nowNs(): bigint {
    return BigInt(START_MS) * 1_000_000n + BigInt(Math.floor(this.monotonicMs() * 1e6));
  }

  monotonicMs(): number {
    return (performance.now() - STARTED_MS) * this.#speed;
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, delayMs / this.#speed);
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  every(intervalMs: number, run: () => void | Promise<void>): Disposable {
    let timer: NodeJS.Timeout | undefined;
    let isDisposed = false;
    const schedule = () => {
      if (!isDisposed) timer = setTimeout(fire, intervalMs / this.#speed).unref();
    };
    const fire = () => void Promise.resolve().then(run).finally(schedule);
    schedule();
    return {
      [Symbol.dispose]() {
        isDisposed = true;
        clearTimeout(timer);
      },
    };
  }
}
