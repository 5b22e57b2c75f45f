import type { Clock, Logger } from '@plinth/kernel';
import type { FinishedAttempt } from '../../storage/queue-model.js';
import type { QueueStore } from '../../storage/queue-store.js';

const MAX_BATCH_COUNT = 256;
/** As many results may wait to be written; no further attempt begins then. */
const MAX_WAITING_COUNT = 2000;
const RETRY_MS = 500;

/** Writes the results of attempts: what comes while a write runs goes together with the next one. */
export class Finisher {
  readonly #store: QueueStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onWritten: (attempt: FinishedAttempt) => void;
  #waiting: FinishedAttempt[] = [];
  #running: Promise<void> | undefined;
  #isClosing = false;

  constructor(needs: {
    readonly store: QueueStore;
    readonly clock: Clock;
    readonly log: Logger;
    readonly onWritten: (attempt: FinishedAttempt) => void;
  }) {
    this.#store = needs.store;
    this.#clock = needs.clock;
    this.#log = needs.log;
    this.#onWritten = needs.onWritten;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING_COUNT;
  }

  push(attempt: FinishedAttempt): void {
    this.#waiting.push(attempt);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when everything is written, or cannot be. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, MAX_BATCH_COUNT);
      try {
        await this.#store.finish(batch, this.#clock.nowMs());
        this.#waiting = this.#waiting.slice(batch.length);
        for (const attempt of batch) this.#onWritten(attempt);
      } catch (err) {
        this.#log.error({ err, count: batch.length }, 'records of attempts not written');
        if (this.#isClosing) return; // their items go back to the queue: at least once
        await this.#clock.sleep(RETRY_MS);
      }
    }
  }
}
