import type { Clock, Logger } from '@plinth/kernel';
import { gameDataError } from '../errors.js';

/** Delay between two attempts. */
export const RETRY_MS = 1000;

interface OpeningDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Stops the attempts. */
  readonly signal: AbortSignal;
  /** May be called again after a failure. */
  readonly open: () => Promise<void>;
}

/**
 * Opens the data and retries until it succeeds, because the database may be unavailable.
 * Requests wait for a running attempt, and are rejected when it fails and between two attempts.
 */
export class Opening {
  readonly #deps: OpeningDeps;
  /** The running or failed attempt; `undefined` once the data is open. */
  #attempt: Promise<void> | undefined;
  #done: Promise<void> = Promise.resolve();
  #hasFailed = false;

  constructor(deps: OpeningDeps) {
    this.#deps = deps;
  }

  /** Call once. @param onOpen called when the data is open. */
  begin(onOpen: () => void): void {
    this.#done = this.#run().then((isOpen) => {
      if (isOpen) onOpen();
    });
  }

  /** Returns `undefined` when the data is open. Rejects with `unavailable`. */
  ready(): Promise<void> | undefined {
    return this.#attempt;
  }

  /** True from the first failure until an attempt succeeds. */
  get isFailing(): boolean {
    return this.#hasFailed;
  }

  /** Resolves when no attempt is running. Call it after the signal is aborted. */
  async ended(): Promise<void> {
    await this.#done;
  }

  /** @returns whether the data is open. */
  async #run(): Promise<boolean> {
    const { clock, log, signal } = this.#deps;
    for (let failureCount = 0; ; failureCount++) {
      const isOpen = await this.#try(failureCount);
      if (isOpen) {
        if (failureCount > 0) log.info({ failureCount }, 'game data loaded after retries');
        return true;
      }
      await clock.sleep(RETRY_MS, signal).catch(() => undefined); // the loop checks the signal
      if (signal.aborted) return false;
    }
  }

  /** Logs only the first failure. */
  async #try(failureCount: number): Promise<boolean> {
    const { open, log } = this.#deps;
    const opened = open();
    this.#attempt = opened.catch(() => {
      throw gameDataError('unavailable', { retryAfterSec: RETRY_MS / 1000 });
    });
    this.#attempt.catch(() => undefined); // if no request awaits the attempt, its rejection would be unhandled
    try {
      await opened;
      this.#attempt = undefined;
      this.#hasFailed = false;
      return true;
    } catch (err) {
      this.#hasFailed = true;
      if (failureCount === 0) log.error({ err }, 'cannot load the game data; retrying');
      return false;
    }
  }
}
