import { type Clock, type CountTogether, GuessGuard } from '@plinth/kernel';

const MAX_FAILURE_COUNT = 50;
const WINDOW_MS = 600_000;
const LOCK_MS = 600_000;

/**
 * Slows down guessing of credentials. After more than 50 wrong credentials within ten minutes, further wrong
 * credentials from that address are rejected for ten minutes. Valid credentials are never affected, because other
 * clients may share the address. Source: rate-limits, section 3.1.
 */
export class LoginGuard {
  readonly #guard: GuessGuard;

  constructor(deps: { readonly clock: Clock; readonly countTogether?: CountTogether }) {
    const limits = { lockingCount: MAX_FAILURE_COUNT + 1, windowMs: WINDOW_MS, lockMs: LOCK_MS };
    this.#guard = new GuessGuard(deps.clock, limits, deps.countTogether);
  }

  /** @param address `ClientAddress.key`. */
  isLocked(address: string): boolean {
    return this.#guard.lockedForMs(address) > 0;
  }

  /** Counts a wrong credential. Returns false if the address is already locked. */
  noteFailure(address: string): boolean {
    if (this.isLocked(address)) return false;
    this.#guard.noteFailure(address);
    return true;
  }
}
