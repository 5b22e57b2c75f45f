import {
  asOutage,
  type Clock,
  CredentialUncheckable,
  isDomainError,
  type Logger,
} from '@plinth/kernel';

/** How often the log hears of it. */
const LOG_INTERVAL_MS = 10_000;

/** Of a look-up a statement of ours that the store refused is no more than an outage: nothing is known of the credential. */
const STORE_FAILURES: ReadonlySet<string> = new Set(['statement_failed', 'transaction_aborted']);

/** Tells look-ups that found nothing from those that could not look. */
export class StoreFailure {
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
      if (error instanceof CredentialUncheckable || !isOfStore(error)) throw error;
      this.#logAtTimes(error);
      throw new CredentialUncheckable(error);
    }
  }

  #logAtTimes(err: unknown): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#loggedMs < LOG_INTERVAL_MS) return;
    this.#loggedMs = nowMs;
    this.#log.warn({ err }, 'credentials cannot be checked: the store does not answer');
  }
}

const isOfStore = (error: unknown): boolean =>
  asOutage(error) !== undefined || (isDomainError(error) && STORE_FAILURES.has(error.kind));
