import { BatchWriter, type Clock, type Logger } from '@plinth/kernel';
import type { FinishedAttempt } from '../../storage/queue/queue-model.js';
import type { QueueStore } from '../../storage/queue/queue-store.js';

const MAX_BATCH_COUNT = 256;
/** Maximum number of results that are not yet written. At the limit, no further attempt starts. */
const MAX_WAITING_COUNT = 2000;
const RETRY_MS = 500;

/**
 * Writes the results of attempts. Results that arrive during a write are combined into the next
 * one.
 */
export class AttemptResultWriter {
  readonly #store: QueueStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onWritten: (attempt: FinishedAttempt) => void;
  readonly #writer = new BatchWriter<FinishedAttempt, undefined>({
    maxCount: MAX_BATCH_COUNT,
    write: (batch) => this.#write(batch),
  });
  #isClosing = false;
  #isLost = false;

  constructor(deps: {
    readonly store: QueueStore;
    readonly clock: Clock;
    readonly log: Logger;
    readonly onWritten: (attempt: FinishedAttempt) => void;
  }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#onWritten = deps.onWritten;
  }

  get isFull(): boolean {
    return this.#writer.waitingCount >= MAX_WAITING_COUNT;
  }

  push(attempt: FinishedAttempt): void {
    void this.#writer.add(attempt);
  }

  /** Resolves when all results are written, or after a write failed during shutdown. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#writer.idle();
  }

  async #write(batch: readonly FinishedAttempt[]): Promise<readonly undefined[]> {
    for (let count = 1; !this.#isLost; count++) {
      try {
        await this.#store.finish(batch, this.#clock.nowMs(), count > 1);
        for (const attempt of batch) this.#onWritten(attempt);
        break;
      } catch (err) {
        this.#log.error({ err, count: batch.length }, 'cannot write delivery records');
        this.#isLost = this.#isClosing; // the items return to the queue and are delivered again (at least once)
        if (!this.#isLost) await this.#clock.sleep(RETRY_MS);
      }
    }
    return [];
  }
}
