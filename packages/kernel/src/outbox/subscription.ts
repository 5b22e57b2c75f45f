import type { OutboxEvent } from './outbox.js';
import type { OutboxOptions } from './outbox-options.js';
import { LEASE_MS, SubscriberRow } from './subscriber-row.js';

interface SubscriptionOptions extends OutboxOptions {
  readonly name: string;
  readonly types: readonly string[];
  readonly handle: (event: OutboxEvent) => Promise<void>;
}

const BATCH_SIZE = 100;
/** The sum of this interval and the lease time is below the ten seconds in which other nodes take over. */
const POLL_MS = 2500;
/** The interval at which the position is written when only events of other types were passed. */
const PASSING_INTERVAL_MS = 60_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 60_000;

/**
 * Delivers events to one subscriber in order. The position is written after each batch, so a crash repeats at most that
 * batch. A failed event is retried with increasing delays, and blocks the events after it.
 *
 * Only one of the nodes that share a store delivers at a time. A node without the lease sleeps, because the holder
 * checks once more after it releases the lease. This check finds every event committed before.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #row: SubscriberRow;
  readonly #types: ReadonlySet<string>;
  readonly #stop = new AbortController();
  /** No undelivered event exists up to this number. */
  #passedSeq = 0;
  #writtenSeq = 0;
  #writtenMs = 0;
  /** In this process's monotonic time, read before the store was updated, so never later than in the store. */
  #turnEndsMs = 0;
  #sleeping: AbortController | undefined;
  #hasNews = false;
  #running: Promise<void> | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
    this.#row = new SubscriberRow(options);
    this.#types = new Set(options.types);
  }

  async start(): Promise<void> {
    await this.#row.make();
    this.#writtenMs = this.#options.clock.monotonicMs();
    this.#running = this.#run();
  }

  takes(type: string): boolean {
    return this.#types.has(type);
  }

  /** Must be called when there may be new events. */
  wake(): void {
    this.#hasNews = true;
    this.#sleeping?.abort();
  }

  /** Returns the first undelivered events. */
  async waiting(maxCount: number): Promise<readonly OutboxEvent[]> {
    return await this.#row.read(this.#passedSeq, maxCount);
  }

  /** Resolves when the running handler has ended. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#sleeping?.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    let attempt = 0;
    while (!this.#stop.signal.aborted) {
      this.#hasNews = false;
      const outcome = await this.#relay(attempt).catch(() => 'failed' as const); // the store reports its own failures
      attempt = outcome === 'failed' ? attempt + 1 : 0;
      if (outcome === 'failed') {
        const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
        await this.#sleep(delayMs, this.#stop.signal);
      } else if (outcome === 'idle') await this.#rest();
    }
  }

  async #relay(attempt: number): Promise<'handled' | 'failed' | 'idle'> {
    const { lastSeq, hasNews, isFree } = await this.#row.status(this.#passedSeq);
    if (!hasNews) {
      await this.#pass(lastSeq);
      return 'idle';
    }
    const sinceMs = this.#options.clock.monotonicMs();
    if (!isFree || !(await this.#row.acquire())) return 'idle';
    this.#turnEndsMs = sinceMs + LEASE_MS;
    const events = await this.#row.read(this.#passedSeq, BATCH_SIZE);
    let handledSeq = this.#passedSeq;
    let hasFailed = false;
    for (const { seq, ...event } of events) {
      if (this.#stop.signal.aborted) break;
      if (!(await this.#renewLease(handledSeq))) return 'idle';
      try {
        await this.#options.handle(event);
      } catch (error) {
        const { name: subscriber, onHandlerFailure } = this.#options;
        onHandlerFailure({ subscriber, event, attempt: attempt + 1, error });
        hasFailed = true;
        break;
      }
      handledSeq = seq;
    }
    // If this fails or is too late, the events are delivered again (at least once).
    await this.#row.advance(handledSeq, 'end');
    this.#noteWritten(handledSeq);
    return hasFailed ? 'failed' : 'handled';
  }

  /** Prevents the start of an event after the lease has expired. */
  async #renewLease(handledSeq: number): Promise<boolean> {
    const sinceMs = this.#options.clock.monotonicMs();
    if (sinceMs < this.#turnEndsMs - LEASE_MS / 2) return true;
    if (!(await this.#row.advance(handledSeq, 'keep'))) return false;
    this.#turnEndsMs = sinceMs + LEASE_MS;
    return true;
  }

  /**
   * Advances the position beyond events of other types. Otherwise, these events could not be removed, and each check
   * would read them again.
   */
  async #pass(lastSeq: number): Promise<void> {
    this.#passedSeq = Math.max(this.#passedSeq, lastSeq);
    const sinceMs = this.#options.clock.monotonicMs() - this.#writtenMs;
    if (this.#passedSeq === this.#writtenSeq || sinceMs < PASSING_INTERVAL_MS) return;
    await this.#row.pass(this.#passedSeq);
    this.#noteWritten(this.#passedSeq);
  }

  #noteWritten(seq: number): void {
    this.#writtenSeq = seq;
    this.#writtenMs = this.#options.clock.monotonicMs();
  }

  /** Sleeps until `wake`, `close` or the next poll. Either call may have happened since the last check. */
  async #rest(): Promise<void> {
    if (this.#hasNews || this.#stop.signal.aborted) return;
    this.#sleeping = new AbortController();
    await this.#sleep(this.#options.pollMs ?? POLL_MS, this.#sleeping.signal);
    this.#sleeping = undefined;
  }

  async #sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(delayMs, signal).catch(() => {});
  }
}
