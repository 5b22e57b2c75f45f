import type { Clock } from '@plinth/kernel';

const MAX_FAILURE_COUNT = 50;
const WINDOW_MS = 600_000;
const LOCK_MS = 600_000;
const MAX_ADDRESS_COUNT = 100_000;

interface Failures {
  count: number;
  readonly sinceMs: number;
  lockedUntilMs: number;
}

/**
 * Slows down guessing of credentials: after more than 50 wrong ones within ten minutes those that follow from the address
 * are answered so for ten minutes. A right one is never asked about: others may share the address.
 * Source: rate-limits, section 3.1.
 */
export class LoginGuard {
  readonly #clock: Clock;
  readonly #byAddress = new Map<string, Failures>();

  constructor({ clock }: { readonly clock: Clock }) {
    this.#clock = clock;
  }

  isLocked(address: string): boolean {
    const failures = this.#byAddress.get(address);
    return failures !== undefined && this.#clock.monotonicMs() < failures.lockedUntilMs;
  }

  noteFailure(address: string): void {
    const nowMs = this.#clock.monotonicMs();
    let failures = this.#byAddress.get(address);
    if (failures === undefined || nowMs - failures.sinceMs >= WINDOW_MS) {
      failures = { count: 0, sinceMs: nowMs, lockedUntilMs: Number.NEGATIVE_INFINITY };
      this.#byAddress.delete(address);
      this.#makeRoom();
      this.#byAddress.set(address, failures);
    }
    failures.count += 1;
    if (failures.count > MAX_FAILURE_COUNT) failures.lockedUntilMs = nowMs + LOCK_MS;
  }

  /** Drops the address that was put in first. */
  #makeRoom(): void {
    if (this.#byAddress.size < MAX_ADDRESS_COUNT) return;
    const [oldest] = this.#byAddress.keys();
    if (oldest !== undefined) this.#byAddress.delete(oldest);
  }
}
