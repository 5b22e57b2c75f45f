import { setTimeout as sleep } from 'node:timers/promises';

/** Who asks once often asks again: loads wait so long after a question, */
const AFTER_QUESTION_MS = 5;
/** and so long in a row however many come. */
const LONGEST_WAIT_MS = 25;

/** Runs loads of columns one after the other; those that a query waits for come first. */
export class LoadQueue {
  readonly #urgent: (() => Promise<void>)[] = [];
  readonly #others: (() => Promise<void>)[] = [];
  #isRunning = false;
  #isUrgent = false;
  #askedMs = Number.NEGATIVE_INFINITY;

  /** Resolves, or rejects, as the work does. */
  add(work: () => Promise<void>, isUrgent: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      (isUrgent ? this.#urgent : this.#others).push(() => work().then(resolve, reject));
      if (!this.#isRunning) void this.#run();
    });
  }

  noteQuestion(): void {
    this.#askedMs = performance.now();
  }

  /** For the load that runs: questions go first, unless one of them waits for it, or for what comes behind it. */
  async giveWay(): Promise<void> {
    const lateMs = performance.now() + LONGEST_WAIT_MS;
    for (;;) {
      if (this.#isUrgent || this.#urgent.length > 0) return;
      const nowMs = performance.now();
      if (nowMs - this.#askedMs >= AFTER_QUESTION_MS || nowMs >= lateMs) return;
      await sleep(AFTER_QUESTION_MS);
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      this.#isUrgent = this.#urgent.length > 0;
      const next = this.#urgent.shift() ?? this.#others.shift();
      if (next === undefined) break;
      await next();
    }
    this.#isRunning = false;
  }
}
