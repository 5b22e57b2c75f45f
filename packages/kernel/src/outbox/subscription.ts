import type { OutboxEvent } from './outbox.js';
import type { OutboxOptions } from './outbox-options.js';
import type { OutboxTables } from './outbox-tables.js';

interface SubscriptionOptions extends OutboxOptions {
  readonly name: string;
  readonly types: readonly string[];
  readonly handle: (event: OutboxEvent) => Promise<void>;
}

interface StoredEvent extends OutboxEvent {
  readonly seq: number;
}

const BATCH_SIZE = 100;
/** How often the position is written when only events went by that this subscriber does not take. */
const PASSING_INTERVAL_MS = 60_000;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 60_000;

/**
 * Hands one subscriber its events in order. The position is written after a batch was handled, so a crash repeats
 * at most that batch. An event whose handler fails is tried again, ever more rarely, and holds up those behind it.
 */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #stop = new AbortController();
  #position = 0;
  #writtenPosition = 0;
  #writtenMs = 0;
  #sleeping: AbortController | undefined;
  #hasNews = false;
  #running: Promise<void> | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#position = await this.#readPosition();
    this.#writtenPosition = this.#position;
    this.#writtenMs = this.#options.clock.monotonicMs();
    this.#running = this.#run();
  }

  /** There may be something to do. */
  wake(): void {
    this.#hasNews = true;
    this.#sleeping?.abort();
  }

  /** The first events that it has not had. */
  async waiting(maxCount: number): Promise<readonly OutboxEvent[]> {
    return await this.#read(maxCount);
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
      if (this.#hasNews) await this.#publishersToCommit();
      const outcome = await this.#relay(attempt);
      attempt = outcome === 'failed' ? attempt + 1 : 0;
      if (outcome === 'failed') {
        const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
        await this.#sleep(delayMs, this.#stop.signal);
      } else if (outcome === 'idle' && !this.#hasNews) {
        await this.#passOthers();
        await this.#rest();
      }
    }
  }

  /** Events are announced before their transaction ends; one that begins later ends later, too. */
  async #publishersToCommit(): Promise<void> {
    this.#hasNews = false;
    await this.#options.store.transaction(async () => {}).catch(() => {}); // a failure shows in the read
  }

  async #relay(attempt: number): Promise<'handled' | 'failed' | 'idle'> {
    const { name, handle, onHandlerFailure } = this.#options;
    let events: readonly StoredEvent[];
    try {
      events = await this.#read();
    } catch {
      return 'failed'; // the store reports its own troubles; the relay comes back later
    }
    const last = events.at(-1);
    if (last === undefined) return 'idle';
    let position = this.#position;
    let hasFailed = false;
    for (const { seq, ...event } of events) {
      if (this.#stop.signal.aborted) break;
      try {
        await handle(event);
      } catch (error) {
        onHandlerFailure({ subscriber: name, event, attempt: attempt + 1, error });
        hasFailed = true;
        break;
      }
      position = seq;
    }
    if (position > this.#position && !(await this.#writePosition(position))) return 'failed';
    return hasFailed ? 'failed' : 'handled';
  }

  /**
   * Moves behind events of other types: until then they can neither be removed nor left out of each look. A failure is
   * no matter, because the next look comes here again.
   */
  async #passOthers(): Promise<void> {
    try {
      const last = await this.#options.store
        .reader<OutboxTables>()
        .selectFrom('kernel_outbox')
        .select(({ fn }) => fn.max('seq').as('seq'))
        .executeTakeFirst();
      const seq = last?.seq ?? 0;
      // Read after `seq`: whatever is committed from here on has a greater number.
      if (seq > this.#position && (await this.#read()).length === 0) this.#position = seq;
    } catch {
      return;
    }
    const sinceMs = this.#options.clock.monotonicMs() - this.#writtenMs;
    if (this.#position === this.#writtenPosition || sinceMs < PASSING_INTERVAL_MS) return;
    await this.#writePosition(this.#position);
  }

  async #read(maxCount = BATCH_SIZE): Promise<readonly StoredEvent[]> {
    const rows = await this.#options.store
      .reader<OutboxTables>()
      .selectFrom('kernel_outbox')
      .selectAll()
      .where('seq', '>', this.#position)
      .where('type', 'in', [...this.#options.types])
      .orderBy('seq')
      .limit(maxCount)
      .execute();
    return rows.map(({ seq, id, type, created_ms, payload }) => ({
      seq,
      id,
      type,
      createdMs: created_ms,
      payload: JSON.parse(payload) as unknown,
    }));
  }

  async #readPosition(): Promise<number> {
    const { store, name, clock } = this.#options;
    return await store.transaction<OutboxTables, number>(async (tx) => {
      // The row is there from the start, so that nothing is removed which this subscriber has not had.
      await tx
        .insertInto('kernel_outbox_positions')
        .values({ subscriber: name, position: 0, seen_ms: clock.nowMs() })
        .onConflict((conflict) =>
          conflict.column('subscriber').doUpdateSet({ seen_ms: clock.nowMs() }),
        )
        .execute();
      const row = await tx
        .selectFrom('kernel_outbox_positions')
        .select('position')
        .where('subscriber', '=', name)
        .executeTakeFirstOrThrow();
      return row.position;
    });
  }

  async #writePosition(position: number): Promise<boolean> {
    try {
      await this.#options.store.transaction<OutboxTables, void>(async (tx) => {
        await tx
          .updateTable('kernel_outbox_positions')
          .set({ position })
          .where('subscriber', '=', this.#options.name)
          .execute();
      });
    } catch {
      return false; // handled again later: at least once
    }
    this.#position = position;
    this.#writtenPosition = position;
    this.#writtenMs = this.#options.clock.monotonicMs();
    return true;
  }

  /** Until `wake`, `close` or the next look of its own. Either may have come since the last look. */
  async #rest(): Promise<void> {
    if (this.#hasNews || this.#stop.signal.aborted) return;
    this.#sleeping = new AbortController();
    await this.#sleep(this.#options.pollMs ?? 1000, this.#sleeping.signal);
    this.#sleeping = undefined;
  }

  async #sleep(delayMs: number, signal: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(delayMs, signal).catch(() => {});
  }
}
