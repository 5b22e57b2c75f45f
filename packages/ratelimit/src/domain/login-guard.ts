import { hash } from 'node:crypto';
import type { Clock } from '@plinth/kernel';

const MAX_FAILURE_COUNT = 50;
const WINDOW_MS = 600_000;
const LOCK_MS = 600_000;
/** A credential that was accepted keeps its way in for so long while its address is locked. */
const ACCEPTED_MS = 30_000;
const MAX_ACCEPTED_COUNT = 100_000;
const MAX_ADDRESS_COUNT = 100_000;

interface Failures {
  count: number;
  sinceMs: number;
  lockedUntilMs: number;
}

/**
 * Stops guessing of credentials: after more than 50 wrong ones within ten minutes an address may present none for
 * ten minutes, but for those that were accepted a moment ago. Source: rate-limits, section 3.1.
 */
export class LoginGuard {
  readonly #clock: Clock;
  readonly #byAddress = new Map<string, Failures>();
  readonly #accepted = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param credential the whole header. */
  isLocked(address: string, credential: string): boolean {
    const failures = this.#byAddress.get(address);
    if (failures === undefined || failures.lockedUntilMs === 0) return false;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= failures.lockedUntilMs) return false;
    const acceptedMs = this.#accepted.get(digest(credential));
    return acceptedMs === undefined || nowMs - acceptedMs > ACCEPTED_MS;
  }

  noteFailure(address: string): void {
    const nowMs = this.#clock.monotonicMs();
    let failures = this.#byAddress.get(address);
    if (failures === undefined || nowMs - failures.sinceMs >= WINDOW_MS) {
      failures = { count: 0, sinceMs: nowMs, lockedUntilMs: 0 };
      makeRoom(this.#byAddress, MAX_ADDRESS_COUNT);
      this.#byAddress.delete(address);
      this.#byAddress.set(address, failures);
    }
    failures.count += 1;
    if (failures.count > MAX_FAILURE_COUNT) failures.lockedUntilMs = nowMs + LOCK_MS;
  }

  noteSuccess(credential: string): void {
    // Only worth remembering while some address is watched.
    if (this.#byAddress.size === 0) return;
    const key = digest(credential);
    makeRoom(this.#accepted, MAX_ACCEPTED_COUNT);
    this.#accepted.delete(key);
    this.#accepted.set(key, this.#clock.monotonicMs());
  }
}

const digest = (credential: string): string => hash('sha256', credential, 'base64');

/** Drops the entry that was put in first. */
function makeRoom(map: Map<string, unknown>, maxCount: number): void {
  if (map.size < maxCount) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
