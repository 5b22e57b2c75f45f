import {
  asOutage,
  type Clock,
  CredentialUncheckable,
  isDomainError,
  type Logger,
} from '@plinth/kernel';

/** Minimum interval between log lines. */
const LOG_INTERVAL_MS = 10_000;

/**
 * During a look-up, a statement refused by the store counts as an outage, because the credential's
 * state is unknown.
 */
const STORE_FAILURES: ReadonlySet<string> = new Set(['statement_failed', 'transaction_aborted']);

/** Distinguishes look-ups that found nothing from look-ups that failed. */
export class StoreFailure {
  readonly #clock: Clock;
  readonly #log: Logger;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Rejects with `CredentialUncheckable` if the store failed, and otherwise settles as `read` does.
   */
  async notice<T>(read: Promise<T>): Promise<T> {
    try {
      return await read;
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
    this.#log.warn({ err }, 'cannot check credentials: the store is unavailable');
  }
}

const isOfStore = (error: unknown): boolean =>
  asOutage(error) !== undefined || (isDomainError(error) && STORE_FAILURES.has(error.kind));
