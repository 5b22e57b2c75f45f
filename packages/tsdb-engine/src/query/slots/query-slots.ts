import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { FairSemaphore } from '@plinth/tsdb-model/fair-semaphore.js';
import { endOfQuery } from '@plinth/tsdb-model/query/end-of-query.js';
import type { QueryOwner } from '@plinth/tsdb-model/query/query-owner.js';

/**
 * Maximum number of waiting queries; more are rejected. A single owner must leave room for others.
 */
const MAX_WAITING = 10_000;

/**
 * Queries that have yielded their slot still keep their results in memory: at most this many per
 * slot.
 */
const MAX_LENT_PER_SLOT = 16;

/** Queries that start without a slot because they may not need one: at most this many per slot. */
const MAX_GUESTS_PER_SLOT = 16;

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
   * Acquires a slot for a query that started without one (`admit`). Returns and rejects like
   * `reacquire`.
   */
  enter(): Promise<void> | undefined;
  /** Releases the slot permanently; calling it twice is harmless. */
  release(): void;
}

/** Limits the number of running queries; the others wait. */
export class QuerySlots {
  readonly #count: number;
  readonly #places: FairSemaphore;
  readonly #counts = { yielded: 0, guest: 0 };
  /** Slots of queries that wait for their clients; the longest waiting one is borrowed first. */
  readonly #idle = new Set<Slot>();

  constructor(count: number) {
    this.#count = count;
    this.#places = new FairSemaphore(count);
  }

  get runningCount(): number {
    return this.#count - this.#places.freeCount;
  }

  get waitingCount(): number {
    return this.#places.waitingCount;
  }

  async take(queryOwner: QueryOwner): Promise<QuerySlot> {
    const { waitingCount } = this.#places;
    const ownCount = this.#places.waitingCountOf(queryOwner.owner);
    if (ownCount >= MAX_WAITING - waitingCount) throw tsdbError('query_queue_full');
    await this.#wait(queryOwner);
    return this.#slot(queryOwner, 'held');
  }

  /**
   * Returns a free slot, or admits the query as a guest: results from memory must not wait for
   * queries that occupy DuckDB. Guests must call `enter` before they use DuckDB.
   */
  async admit(queryOwner: QueryOwner): Promise<QuerySlot> {
    if (this.#takeFree(queryOwner) || this.#borrow(queryOwner))
      return this.#slot(queryOwner, 'held');
    if (this.#counts.guest >= this.#count * MAX_GUESTS_PER_SLOT) return await this.take(queryOwner);
    this.#counts.guest++;
    return this.#slot(queryOwner, 'guest');
  }

  #slot(queryOwner: QueryOwner, state: 'held' | 'guest'): QuerySlot {
    return new Slot(queryOwner, state, {
      idle: (slot) => {
        if (this.#places.waitingCount > 0 && this.#mayLend()) {
          this.#counts.yielded++;
          this.#places.give(queryOwner.owner);
          return 'yielded';
        }
        this.#idle.add(slot);
        return 'idle';
      },
      busy: (slot) => void this.#idle.delete(slot),
      take: async (from) => {
        await this.#wait(queryOwner);
        this.#counts[from]--;
      },
      leave: (from) => void this.#counts[from]--,
      give: (slot) => {
        this.#idle.delete(slot);
        this.#places.give(queryOwner.owner);
      },
    });
  }

  #mayLend(): boolean {
    return this.#counts.yielded < this.#count * MAX_LENT_PER_SLOT;
  }

  async #wait(queryOwner: QueryOwner): Promise<void> {
    if (!this.#takeFree(queryOwner) && !this.#borrow(queryOwner))
      await this.#places.take(queryOwner);
  }

  #takeFree({ owner }: QueryOwner): boolean {
    return this.#places.takeAtOnce(owner);
  }

  /** Takes the slot of a query that waits for its client. */
  #borrow({ owner }: QueryOwner): boolean {
    const [slot] = this.#idle;
    if (slot === undefined || !this.#mayLend()) return false;
    if (!this.#places.move(slot.owner, owner)) return false;
    this.#idle.delete(slot);
    this.#counts.yielded++;
    slot.wasLent();
    return true;
  }
}

/** The possible states of a slot object without a slot. */
type WithoutSlot = 'yielded' | 'guest';

/** Operations that a slot needs from its pool. */
interface SlotOwner {
  /** Offers the slot; returns whether it was taken immediately. */
  idle(slot: Slot): 'idle' | 'yielded';
  busy(slot: Slot): void;
  /** Resolves with a slot for a query that has none. */
  take(from: WithoutSlot): Promise<void>;
  leave(from: WithoutSlot): void;
  give(slot: Slot): void;
}

class Slot implements QuerySlot {
  readonly #desk: SlotOwner;
  readonly #queryOwner: QueryOwner;
  #state: 'held' | 'idle' | WithoutSlot | 'taking' | 'released';

  constructor(queryOwner: QueryOwner, state: 'held' | 'guest', desk: SlotOwner) {
    this.#queryOwner = queryOwner;
    this.#state = state;
    this.#desk = desk;
  }

  get owner(): string | undefined {
    return this.#queryOwner.owner;
  }

  wasLent(): void {
    this.#state = 'yielded';
  }

  yieldSlot(): void {
    if (this.#state === 'held') this.#state = this.#desk.idle(this);
  }

  reacquire(): Promise<void> | undefined {
    if (this.#state === 'idle') {
      this.#state = 'held';
      this.#desk.busy(this);
      return undefined;
    }
    return this.#state === 'yielded' ? this.#take('yielded') : undefined;
  }

  release(): void {
    const before = this.#state;
    this.#state = 'released';
    if (before === 'held' || before === 'idle') this.#desk.give(this);
    else if (before === 'yielded' || before === 'guest') this.#desk.leave(before);
  }

  enter(): Promise<void> | undefined {
    return this.#state === 'guest' ? this.#take('guest') : undefined;
  }

  async #take(from: WithoutSlot): Promise<void> {
    this.#state = 'taking';
    try {
      if (this.#queryOwner.signal.aborted) throw endOfQuery(this.#queryOwner.signal);
      await this.#desk.take(from);
    } catch (error) {
      // Keep the previous state until it is released.
      if (this.#isTaking()) this.#state = from;
      else this.#desk.leave(from);
      throw error;
    }
    if (this.#isTaking()) this.#state = 'held';
    else this.#desk.give(this);
  }

  /** False if it was released in the meantime. */
  #isTaking(): boolean {
    return this.#state === 'taking';
  }
}
