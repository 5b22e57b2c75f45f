import type { OutboxEvent } from './outbox.js';
import type { OutboxOptions } from './outbox-options.js';
import { SubscriberRow, TURN_MS } from './subscriber-row.js';

interface SubscriptionOptions extends OutboxOptions {
  readonly name: string;
  readonly types: readonly string[];
  readonly handle: (event: OutboxEvent) => Promise<void>;
}

const BATCH_SIZE = 100;
/** With the end of a turn within the ten seconds in which others take up what a node leaves. */
const POLL_MS = 2500;
/** How often the position is written when only events went by that this subscriber does not take. */
const PASSING_INTERVAL_MS = 60_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 60_000;

/**
 * Hands one subscriber its events in order. The position is written after a batch was handled, so a crash repeats
 * at most that batch. An event whose handler fails is tried again, ever more rarely, and holds up those behind it.
 *
 * Of the nodes that share a store one at a time does so. Who finds another one at it sleeps, because whoever ends a turn looks
 * once more behind it: an event that was committed before its end was seen is seen by that look.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #row: SubscriberRow;
  readonly #types: ReadonlySet<string>;
  readonly #stop = new AbortController();
  /** No event up to here waits for this subscriber. */
  #passedSeq = 0;
  #writtenSeq = 0;
  #writtenMs = 0;
  /** By the clock of this process, from before the store was told: never longer than the store has it. */
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

  /** There is something to do. */
  wake(): void {
    this.#hasNews = true;
    this.#sleeping?.abort();
  }

  /** The first events that it has not had. */
  async waiting(maxCount: number): Promise<readonly OutboxEvent[]> {
    return await this.#row.read(this.#passedSeq, maxCount);
  }

  /** Resolves when the handler that is running has ended. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#sleeping?.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    let attempt = 0;
    while (!this.#stop.signal.aborted) {
      this.#hasNews = false;
      const outcome = await this.#relay(attempt).catch(() => 'failed' as const); // the store reports its own troubles
      attempt = outcome === 'failed' ? attempt + 1 : 0;
      if (outcome === 'failed') {
        const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
        await this.#sleep(delayMs, this.#stop.signal);
      } else if (outcome === 'idle') await this.#rest();
    }
  }

  async #relay(attempt: number): Promise<'handled' | 'failed' | 'idle'> {
    const { lastSeq, hasNews, isFree } = await this.#row.look(this.#passedSeq);
    if (!hasNews) {
      await this.#pass(lastSeq);
      return 'idle';
    }
    const sinceMs = this.#options.clock.monotonicMs();
    if (!isFree || !(await this.#row.acquire())) return 'idle';
    this.#turnEndsMs = sinceMs + TURN_MS;
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
    // Where that fails, or comes too late, it is handled again: at least once.
    await this.#row.advance(handledSeq, 'end');
    this.#noteWritten(handledSeq);
    return hasFailed ? 'failed' : 'handled';
  }

  /** No event is begun in the turn of another node. */
  async #renewLease(handledSeq: number): Promise<boolean> {
    const sinceMs = this.#options.clock.monotonicMs();
    if (sinceMs < this.#turnEndsMs - TURN_MS / 2) return true;
    if (!(await this.#row.advance(handledSeq, 'keep'))) return false;
    this.#turnEndsMs = sinceMs + TURN_MS;
    return true;
  }

  /** Moves behind events of other types: until then they can neither be removed nor left out of each look. */
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

  /** Until `wake`, `close` or the next look of its own. Either may have come since the last look. */
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
