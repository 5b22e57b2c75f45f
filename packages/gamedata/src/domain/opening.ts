import type { Clock, Logger } from '@plinth/kernel';
import { gameDataError } from '../errors.js';

/** Between two attempts. */
export const RETRY_MS = 1000;

interface OpeningDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
  /** May be called again after it has failed. */
  readonly open: () => Promise<void>;
}

/**
 * Opens the data, again and again until it succeeds: the database may be away. Whoever needs the data waits for the
 * attempt that runs, and is refused when it fails and between two of them.
 */
export class Opening {
  readonly #needs: OpeningDeps;
  /** Of an attempt that runs or has failed; `undefined` once the data is open. */
  #attempt: Promise<void> | undefined;
  #done: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(needs: OpeningDeps) {
    this.#needs = needs;
  }

  /** Once. @param onOpen is called when the data is open. */
  begin(onOpen: () => void): void {
    this.#done = this.#run().then((isOpen) => {
      if (isOpen) onOpen();
    });
  }

  /** `undefined`: the data is open. Rejects with `unavailable`. */
  ready(): Promise<void> | undefined {
    return this.#attempt;
  }

  /** True until an attempt succeeds after one has failed. */
  get isFailing(): boolean {
    return this.#hasFailed;
  }

  /** Resolves when no attempt runs any more; to be called after the signal. */
  async ended(): Promise<void> {
    await this.#done;
  }

  /** @returns whether the data is open. */
  async #run(): Promise<boolean> {
    const { clock, log, signal } = this.#needs;
    for (let failureCount = 0; ; failureCount++) {
      const isOpen = await this.#try(failureCount);
      if (isOpen) {
        if (failureCount > 0) log.info({ failureCount }, 'game data is loaded after all');
        return true;
      }
      await clock.sleep(RETRY_MS, signal).catch(() => undefined); // The signal is looked at.
      if (signal.aborted) return false;
    }
  }

  /** The log hears of the first failure, not of each. */
  async #try(failureCount: number): Promise<boolean> {
    const { open, log } = this.#needs;
    const opened = open();
    this.#attempt = opened.catch(() => {
      throw gameDataError('unavailable', { retryAfterSec: RETRY_MS / 1000 });
    });
    this.#attempt.catch(() => undefined); // Nobody may have asked.
    try {
      await opened;
      this.#attempt = undefined;
      this.#hasFailed = false;
      return true;
    } catch (err) {
      this.#hasFailed = true;
      if (failureCount === 0) log.error({ err }, 'game data cannot be loaded; it is tried again');
      return false;
    }
  }
}
