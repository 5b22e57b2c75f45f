import { type Clock, GuessGuard } from '@plinth/kernel';

const MAX_FAILURE_COUNT = 50;
const WINDOW_MS = 600_000;
const LOCK_MS = 600_000;

/** Counts one more where all nodes count; how many that makes within the time. Never rejects; `undefined`: this node is alone. */
export type CountTogether = (address: string, windowMs: number) => Promise<number> | undefined;

/**
 * Slows down guessing of credentials: after more than 50 wrong ones within ten minutes those that follow from the address
 * are answered so for ten minutes. Another node that shares the store hears of it with the next wrong one that it sees. A right one is never asked about: others may share the address.
 * Source: rate-limits, section 3.1.
 */
export class LoginGuard {
  readonly #guard: GuessGuard;
  readonly #countTogether: CountTogether;

  constructor({
    clock,
    countTogether = () => undefined,
  }: {
    readonly clock: Clock;
    readonly countTogether?: CountTogether;
  }) {
    this.#countTogether = countTogether;
    this.#guard = new GuessGuard(clock, {
      lockingCount: MAX_FAILURE_COUNT + 1,
      windowMs: WINDOW_MS,
      lockMs: LOCK_MS,
    });
  }

  /** @param address as `ClientAddress.key`. */
  isLocked(address: string): boolean {
    return this.#guard.lockedForMs(address) > 0;
  }

  noteFailure(address: string): void {
    this.#guard.noteFailure(address);
    void this.#countTogether(address, WINDOW_MS)?.then((total) =>
      this.#guard.noteTotal(address, total),
    );
  }
}
