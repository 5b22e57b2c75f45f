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
  readonly #nowMs: () => number;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Resolves, or rejects, as the work does. */
  add(work: () => Promise<void>, isUrgent: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      (isUrgent ? this.#urgent : this.#others).push(() => work().then(resolve, reject));
      if (!this.#isRunning) void this.#run();
    });
  }

  noteQuestion(): void {
    this.#askedMs = this.#nowMs();
  }

  /** Nobody has asked for so long. */
  get idleMs(): number {
    return this.#nowMs() - this.#askedMs;
  }

  /** For the load that runs: questions go first, unless one of them waits for it, or for what comes behind it. */
  async giveWay(): Promise<void> {
    for (let waitedMs = 0; waitedMs < LONGEST_WAIT_MS; waitedMs += AFTER_QUESTION_MS) {
      const isAwaited = this.#isUrgent || this.#urgent.length > 0;
      if (isAwaited || this.idleMs >= AFTER_QUESTION_MS) return;
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
