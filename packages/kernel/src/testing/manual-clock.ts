import type { Clock } from '../clock/clock.js';
import { repeat } from '../clock/repeat.js';

interface Timer {
  readonly dueNs: bigint;
  readonly order: number;
  fire(): void;
}

const NS_PER_MS = 1_000_000n;

/** A clock that only tests advance. Starts at 2026-01-01T00:00:00Z by default. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #startNs: bigint;
  #nowNs: bigint;
  #monotonicOffsetNs = 0n;
  #timerCount = 0;

  constructor(startMs: number = Date.UTC(2026, 0, 1)) {
    this.#startNs = BigInt(startMs) * NS_PER_MS;
    this.#nowNs = this.#startNs;
  }

  nowMs(): number {
    return Number(this.#nowNs / NS_PER_MS);
  }

  nowNs(): bigint {
    return this.#nowNs;
  }

  monotonicMs(): number {
    return Number(this.#nowNs - this.#startNs + this.#monotonicOffsetNs) / 1e6;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = this.#schedule(delayMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      return undefined;
    });
  }

  every(intervalMs: number, run: () => void | Promise<void>): Disposable {
    return repeat(intervalMs, run, (ms, fire) => this.#schedule(ms, fire));
  }

  /** Advances by `ms`, fires due timers in time order, and lets their continuations run. */
  async advanceMs(ms: number): Promise<void> {
    await this.advanceNs(BigInt(Math.round(ms * 1e6)));
  }

  async advanceNs(ns: bigint): Promise<void> {
    const targetNs = this.#nowNs + ns;
    for (let timer = this.#nextDue(targetNs); timer; timer = this.#nextDue(targetNs)) {
      if (timer.dueNs > this.#nowNs) this.#nowNs = timer.dueNs;
      this.#timers.delete(timer);
      timer.fire();
      await settle();
    }
    this.#nowNs = targetNs;
    await settle();
  }

  /** The wall clock jumps, as if set by an operator or NTP; the monotonic clock does not change. */
  stepWallMs(ms: number): void {
    const stepNs = BigInt(Math.round(ms * 1e6));
    this.#nowNs += stepNs;
    this.#monotonicOffsetNs -= stepNs;
    for (const timer of [...this.#timers]) {
      this.#timers.delete(timer);
      this.#timers.add({ ...timer, fire: timer.fire, dueNs: timer.dueNs + stepNs });
    }
  }

  #schedule(delayMs: number, fire: () => void): () => void {
    const dueNs = this.#nowNs + BigInt(Math.round(delayMs * 1e6));
    this.#timerCount += 1;
    const order = this.#timerCount;
    this.#timers.add({ dueNs, order, fire });
    return () => {
      for (const timer of this.#timers) if (timer.order === order) this.#timers.delete(timer);
    };
  }

  #nextDue(untilNs: bigint): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueNs > untilNs) continue;
      const isEarlier =
        next === undefined ||
        timer.dueNs < next.dueNs ||
        (timer.dueNs === next.dueNs && timer.order < next.order);
      if (isEarlier) next = timer;
    }
    return next;
  }
}

/** One event-loop tick, in which pending promises and their continuations run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
