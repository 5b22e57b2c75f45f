import { type Clock, CredentialUncheckable, isDomainError, type Logger } from '@plinth/kernel';

/** How often the log hears of it. */
const LOG_INTERVAL_MS = 10_000;

/** How a store fails that cannot be asked; any other failure is a bug, or says what is wrong with a credential. */
const STORE_FAILURES: ReadonlySet<string> = new Set([
  'disk_full',
  'statement_failed',
  'store_overloaded',
  'store_unusable',
  'transaction_aborted',
  'transaction_timed_out',
]);

/** Tells look-ups that found nothing from those that could not look. */
export class StoreAbsence {
  readonly #clock: Clock;
  readonly #log: Logger;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Rejects with `CredentialUncheckable` where the store failed, and as `look` does otherwise. */
  async notice<T>(look: Promise<T>): Promise<T> {
    try {
      return await look;
    } catch (error) {
      if (!isDomainError(error) || !STORE_FAILURES.has(error.kind)) throw error;
      this.#logAtTimes(error);
      throw new CredentialUncheckable(error);
    }
  }

  #logAtTimes(err: Error): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#loggedMs < LOG_INTERVAL_MS) return;
    this.#loggedMs = nowMs;
    this.#log.warn({ err }, 'credentials cannot be checked: the store does not answer');
  }
}
