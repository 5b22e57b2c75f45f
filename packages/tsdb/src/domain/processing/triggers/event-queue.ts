/** What waits for its turn in a trigger. */
const MAX_WAITING = 60;

/**
 * Runs the events of one trigger, up to `concurrency` at a time, in order of arrival.
 * Source: processing-engine, "Scheduling and delivery".
 */
export class EventQueue<E> {
  readonly #run: (event: E) => Promise<void>;
  readonly #concurrency: number;
  readonly #waiting: E[] = [];
  #runningCount = 0;
  #isClosed = false;
  #onIdle: (() => void) | undefined;

  constructor(options: {
    /** Must not reject. */
    readonly run: (event: E) => Promise<void>;
    readonly concurrency: number;
  }) {
    this.#run = options.run;
    this.#concurrency = options.concurrency;
  }

  /** Nothing runs that a new event would have to wait for. */
  get hasRoom(): boolean {
    return this.#runningCount < this.#concurrency;
  }

  get isFull(): boolean {
    return this.#waiting.length >= MAX_WAITING;
  }

  /** False: the queue is full or closed, and the event is not taken. */
  push(event: E): boolean {
    if (this.#isClosed || this.isFull) return false;
    this.#waiting.push(event);
    this.#fill();
    return true;
  }

  /** Takes the oldest event out that has not begun. */
  dropOldest(): E | undefined {
    return this.#waiting.shift();
  }

  /** Takes an event out that has not begun; false: it has, or is not here. */
  drop(event: E): boolean {
    const place = this.#waiting.indexOf(event);
    if (place >= 0) this.#waiting.splice(place, 1);
    return place >= 0;
  }

  /** What waits is given up; resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    if (this.#runningCount > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  #fill(): void {
    while (this.#runningCount < this.#concurrency) {
      const event = this.#waiting.shift();
      if (event === undefined) return;
      this.#runningCount++;
      void this.#run(event).finally(() => {
        this.#runningCount--;
        this.#fill();
        if (this.#runningCount === 0) this.#onIdle?.();
      });
    }
  }
}
