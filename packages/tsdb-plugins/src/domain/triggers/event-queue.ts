/** Default maximum number of waiting events, used for triggers. */
const MAX_WAITING = 60;

/**
 * Runs events, for example of one trigger, up to `concurrency` at a time, in order of arrival.
 * Source: processing-engine, "Scheduling and delivery".
 */
export class EventQueue<E> {
  readonly #run: (event: E) => Promise<void>;
  readonly #concurrency: number;
  readonly #maxWaiting: number;
  readonly #waiting: E[] = [];
  #runningCount = 0;
  #isClosed = false;
  #onIdle: (() => void) | undefined;

  constructor(options: {
    /** Must not reject. */
    readonly run: (event: E) => Promise<void>;
    readonly concurrency: number;
    readonly maxWaiting?: number;
  }) {
    this.#run = options.run;
    this.#concurrency = options.concurrency;
    this.#maxWaiting = options.maxWaiting ?? MAX_WAITING;
  }

  /** Whether a new event would run immediately. */
  get hasRoom(): boolean {
    return this.#runningCount < this.#concurrency;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
  }

  /** Returns false if the queue is full or closed; the event is then dropped. */
  push(event: E): boolean {
    if (this.#isClosed || this.isFull) return false;
    this.#waiting.push(event);
    this.#fill();
    return true;
  }

  /** Removes and returns the oldest waiting event. */
  dropOldest(): E | undefined {
    return this.#waiting.shift();
  }

  /** Removes a waiting event. Returns false if it has started or is not in the queue. */
  drop(event: E): boolean {
    const place = this.#waiting.indexOf(event);
    if (place >= 0) this.#waiting.splice(place, 1);
    return place >= 0;
  }

  /** Drops all waiting events. Resolves when no event is running. */
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
