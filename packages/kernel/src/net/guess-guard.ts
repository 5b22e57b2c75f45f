import type { Clock } from '../clock/clock.js';

const MAX_ADDRESS_COUNT = 100_000;

interface Failures {
  count: number;
  readonly sinceMs: number;
  lockedUntilMs: number;
}

export interface GuessLimits {
  /** The number of the failure that locks an address, from 1. */
  readonly lockingCount: number;
  /** Starts with the first failure. */
  readonly windowMs: number;
  /** Starts with the locking failure. When absent, the lock ends with the window. */
  readonly lockMs?: number;
}

/**
 * Adds a failure to the shared count. Resolves to the count of all nodes within the window and never rejects.
 * `undefined` on a single node.
 */
export type CountTogether = (address: string, windowMs: number) => Promise<number> | undefined;

/**
 * Counts failed credentials by address, and locks addresses with too many. Beyond 100,000 addresses, the address with
 * the oldest window is dropped, and all others remain locked. Addresses are compared as given: see `addressKey`.
 * Another node applies a lock when it counts the next failure.
 */
export class GuessGuard {
  readonly #clock: Clock;
  readonly #limits: GuessLimits;
  readonly #countTogether: CountTogether;
  readonly #byAddress = new Map<string, Failures>();

  constructor(clock: Clock, limits: GuessLimits, countTogether: CountTogether = () => undefined) {
    this.#clock = clock;
    this.#limits = limits;
    this.#countTogether = countTogether;
  }

  /** Returns the remaining lock time in milliseconds; 0 when the address is not locked. */
  lockedForMs(address: string): number {
    const failures = this.#byAddress.get(address);
    return failures === undefined
      ? 0
      : Math.max(0, failures.lockedUntilMs - this.#clock.monotonicMs());
  }

  noteFailure(address: string): void {
    const { windowMs } = this.#limits;
    const nowMs = this.#clock.monotonicMs();
    let failures = this.#byAddress.get(address);
    if (failures === undefined || nowMs - failures.sinceMs >= windowMs) {
      failures = { count: 0, sinceMs: nowMs, lockedUntilMs: Number.NEGATIVE_INFINITY };
      this.#byAddress.delete(address);
      this.#makeRoom();
      this.#byAddress.set(address, failures);
    }
    failures.count += 1;
    this.#lockIfDue(failures);
    void this.#countTogether(address, windowMs)?.then((total) => this.#noteTotal(address, total));
  }

  /** Applies the count of all nodes to an address that was counted here. */
  #noteTotal(address: string, count: number): void {
    const failures = this.#byAddress.get(address);
    if (failures === undefined || count <= failures.count) return;
    failures.count = count;
    this.#lockIfDue(failures);
  }

  #lockIfDue(failures: Failures): void {
    const { lockingCount, windowMs, lockMs } = this.#limits;
    if (failures.count < lockingCount) return;
    const nowMs = this.#clock.monotonicMs();
    failures.lockedUntilMs = lockMs === undefined ? failures.sinceMs + windowMs : nowMs + lockMs;
  }

  /** Drops the address that was added first. */
  #makeRoom(): void {
    if (this.#byAddress.size < MAX_ADDRESS_COUNT) return;
    const [oldest] = this.#byAddress.keys();
    if (oldest !== undefined) this.#byAddress.delete(oldest);
  }
}
