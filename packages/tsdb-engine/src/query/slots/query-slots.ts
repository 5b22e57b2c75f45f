import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { FairSemaphore } from '@plinth/tsdb-model/fair-semaphore.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type { QueryContext } from '@plinth/tsdb-model/query/query-context.js';

/**
 * Maximum number of waiting queries; more are rejected. A single owner must leave space in the
 * queue for others.
 */
const MAX_WAITING = 10_000;

/**
 * Queries that have yielded their slot still keep their results in memory: at most this many per
 * slot.
 */
const MAX_YIELDED_PER_SLOT = 16;

/** Queries that start without a slot because columns in memory may provide their result: at most this many per slot. */
const MAX_WITHOUT_SLOT_PER_SLOT = 16;

/** A query's slot among the running ones. */
export interface QuerySlot {
  /** Lets other queries run while this one waits for its client; calling it twice is harmless. */
  yieldSlot(): void;
  /**
   * Continues the query: immediately if `undefined`, otherwise when a slot is free. Rejects when
   * the query is aborted.
   */
  reacquire(): Promise<void> | undefined;
  /**
   * Acquires a slot for a query that started without one (`acquireOrStartWithoutSlot`). Returns and
   * rejects like `reacquire`.
   */
  ensureSlot(): Promise<void> | undefined;
  /** Releases the slot permanently; calling it twice is harmless. */
  release(): void;
}

/** Limits the number of running queries; the others wait. */
export class QuerySlots {
  readonly #count: number;
  readonly #semaphore: FairSemaphore;
  readonly #counts = { yielded: 0, withoutSlot: 0 };
  /** Slots of queries that wait for their clients; the slot of the query that has waited longest is taken first. */
  readonly #idle = new Set<Slot>();

  constructor(count: number) {
    this.#count = count;
    this.#semaphore = new FairSemaphore(count);
  }

  get runningCount(): number {
    return this.#count - this.#semaphore.freeCount;
  }

  get waitingCount(): number {
    return this.#semaphore.waitingCount;
  }

  async acquire(queryContext: QueryContext): Promise<QuerySlot> {
    const { waitingCount } = this.#semaphore;
    const ownCount = this.#semaphore.waitingCountOf(queryContext.owner);
    if (ownCount >= MAX_WAITING - waitingCount) throw tsdbError('query_queue_full');
    await this.#wait(queryContext);
    return this.#slot(queryContext, 'held');
  }

  /**
   * Returns a free slot, or admits the query without one: column queries must not wait for
   * queries that occupy DuckDB. Such a query must call `ensureSlot` before it uses DuckDB.
   */
  async acquireOrStartWithoutSlot(queryContext: QueryContext): Promise<QuerySlot> {
    if (this.#acquireFree(queryContext) || this.#takeIdle(queryContext))
      return this.#slot(queryContext, 'held');
    if (this.#counts.withoutSlot >= this.#count * MAX_WITHOUT_SLOT_PER_SLOT)
      return await this.acquire(queryContext);
    this.#counts.withoutSlot++;
    return this.#slot(queryContext, 'withoutSlot');
  }

  #slot(queryContext: QueryContext, state: 'held' | 'withoutSlot'): QuerySlot {
    return new Slot(queryContext, state, {
      idle: (slot) => {
        if (this.#semaphore.waitingCount > 0 && this.#mayYield()) {
          this.#counts.yielded++;
          this.#semaphore.give(queryContext.owner);
          return 'yielded';
        }
        this.#idle.add(slot);
        return 'idle';
      },
      busy: (slot) => void this.#idle.delete(slot),
      take: async (from) => {
        await this.#wait(queryContext);
        this.#counts[from]--;
      },
      leave: (from) => void this.#counts[from]--,
      give: (slot) => {
        this.#idle.delete(slot);
        this.#semaphore.give(queryContext.owner);
      },
    });
  }

  #mayYield(): boolean {
    return this.#counts.yielded < this.#count * MAX_YIELDED_PER_SLOT;
  }

  async #wait(queryContext: QueryContext): Promise<void> {
    if (!this.#acquireFree(queryContext) && !this.#takeIdle(queryContext))
      await this.#semaphore.take(queryContext);
  }

  #acquireFree({ owner }: QueryContext): boolean {
    return this.#semaphore.takeAtOnce(owner);
  }

  /** Takes the slot of a query that waits for its client. */
  #takeIdle({ owner }: QueryContext): boolean {
    const [slot] = this.#idle;
    if (slot === undefined || !this.#mayYield()) return false;
    if (!this.#semaphore.move(slot.owner, owner)) return false;
    this.#idle.delete(slot);
    this.#counts.yielded++;
    slot.noteYielded();
    return true;
  }
}

/** The possible states of a slot object without a slot. */
type SlotlessState = 'yielded' | 'withoutSlot';

/** Operations that a slot needs from its pool. */
interface SlotPool {
  /** Offers the slot; returns whether it was taken immediately. */
  idle(slot: Slot): 'idle' | 'yielded';
  busy(slot: Slot): void;
  /** Resolves with a slot for a query that has none. */
  take(from: SlotlessState): Promise<void>;
  leave(from: SlotlessState): void;
  give(slot: Slot): void;
}

class Slot implements QuerySlot {
  readonly #pool: SlotPool;
  readonly #queryContext: QueryContext;
  #state: 'held' | 'idle' | SlotlessState | 'taking' | 'released';

  constructor(queryContext: QueryContext, state: 'held' | 'withoutSlot', pool: SlotPool) {
    this.#queryContext = queryContext;
    this.#state = state;
    this.#pool = pool;
  }

  get owner(): string | undefined {
    return this.#queryContext.owner;
  }

  noteYielded(): void {
    this.#state = 'yielded';
  }

  yieldSlot(): void {
    if (this.#state === 'held') this.#state = this.#pool.idle(this);
  }

  reacquire(): Promise<void> | undefined {
    if (this.#state === 'idle') {
      this.#state = 'held';
      this.#pool.busy(this);
      return undefined;
    }
    return this.#state === 'yielded' ? this.#take('yielded') : undefined;
  }

  release(): void {
    const before = this.#state;
    this.#state = 'released';
    if (before === 'held' || before === 'idle') this.#pool.give(this);
    else if (before === 'yielded' || before === 'withoutSlot') this.#pool.leave(before);
  }

  ensureSlot(): Promise<void> | undefined {
    return this.#state === 'withoutSlot' ? this.#take('withoutSlot') : undefined;
  }

  async #take(from: SlotlessState): Promise<void> {
    this.#state = 'taking';
    try {
      if (this.#queryContext.signal.aborted) throw endOfQuery(this.#queryContext.signal);
      await this.#pool.take(from);
    } catch (error) {
      // Keep the previous state until it is released.
      if (this.#isTaking()) this.#state = from;
      else this.#pool.leave(from);
      throw error;
    }
    if (this.#isTaking()) this.#state = 'held';
    else this.#pool.give(this);
  }

  /** False if it was released in the meantime. */
  #isTaking(): boolean {
    return this.#state === 'taking';
  }
}
