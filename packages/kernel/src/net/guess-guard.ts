import type { Clock } from '../clock/clock.js';

const MAX_ADDRESS_COUNT = 100_000;

interface Failures {
  count: number;
  readonly sinceMs: number;
  lockedUntilMs: number;
}

export interface GuessLimits {
  /** The failure, counted from 1, with which an address is locked. */
  readonly lockingCount: number;
  /** From the first failure on. */
  readonly windowMs: number;
  /** From the failure that locks on; without it, to the end of the window. */
  readonly lockMs?: number;
}

/** Counts one more where all nodes count; how many that makes within the time. Never rejects; `undefined`: this node is alone. */
export type CountTogether = (address: string, windowMs: number) => Promise<number> | undefined;

/**
 * Counts wrong credentials by address, and says which addresses have guessed too often. Of more than 100,000 the one is
 * forgotten that has been counted longest; the others keep their locks. Addresses are told apart as they are given: see
 * `addressKey`. Another node that counts as well hears of a lock with the next wrong one that it sees.
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

  /** How long the address stays locked; 0 when it is not. */
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

  /** Others have counted as well: so many are known of an address that was counted here. */
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

  /** Drops the address that was put in first. */
  #makeRoom(): void {
    if (this.#byAddress.size < MAX_ADDRESS_COUNT) return;
    const [oldest] = this.#byAddress.keys();
    if (oldest !== undefined) this.#byAddress.delete(oldest);
  }
}
