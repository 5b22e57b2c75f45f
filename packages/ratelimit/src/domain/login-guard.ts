import type { Clock, Random } from '@plinth/kernel';

const MAX_FAILURE_COUNT = 50;
const WINDOW_MS = 600_000;
const LOCK_MS = 600_000;
/** A credential that was accepted keeps its way in for so long while its address is locked. */
const ACCEPTED_MS = 30_000;
/** How exactly it is noted when that was. */
const NOTED_MS = 1000;
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
  /** When each was accepted last, by a number made of it. */
  readonly #accepted = new Map<number, number>();
  readonly #seed: number;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#seed = Math.floor(random.float() * 2 ** 32);
  }

  /** @param credential the whole header. */
  isLocked(address: string, credential: string): boolean {
    const failures = this.#byAddress.get(address);
    if (failures === undefined || failures.lockedUntilMs === 0) return false;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= failures.lockedUntilMs) return false;
    const acceptedMs = this.#accepted.get(this.#numberOf(credential));
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
    const key = this.#numberOf(credential);
    const nowMs = this.#clock.monotonicMs();
    const notedMs = this.#accepted.get(key);
    if (notedMs !== undefined && nowMs - notedMs < NOTED_MS) return;
    if (notedMs === undefined) makeRoom(this.#accepted, MAX_ACCEPTED_COUNT);
    else this.#accepted.delete(key);
    this.#accepted.set(key, nowMs);
  }

  /**
   * 53 bits of FNV-1a in two lanes, because every request pays for it and a digest costs a hundred times as much. Who
   * meets another's number by chance may try a credential, no more; the seed keeps that from being sought.
   */
  #numberOf(credential: string): number {
    let low = this.#seed;
    let high = ~this.#seed;
    for (let index = 0; index < credential.length; index += 1) {
      const code = credential.charCodeAt(index);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x85ebca6b);
    }
    return (high >>> 11) * 2 ** 32 + (low >>> 0);
  }
}

/** Drops the entry that was put in first. */
function makeRoom<K>(map: Map<K, unknown>, maxCount: number): void {
  if (map.size < maxCount) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
