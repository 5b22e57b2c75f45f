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

/** A query's right to a slot among the running queries; it exists longer than the slot. */
export interface QueryTicket {
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
  /** Tickets of queries that wait for their clients; the slot of the query that has waited longest is taken first. */
  readonly #idle = new Set<Ticket>();

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

  async acquire(queryContext: QueryContext): Promise<QueryTicket> {
    const { waitingCount } = this.#semaphore;
    const ownCount = this.#semaphore.waitingCountOf(queryContext.owner);
    if (ownCount >= MAX_WAITING - waitingCount) throw tsdbError('query_queue_full');
    await this.#wait(queryContext);
    return this.#ticket(queryContext, 'held');
  }

  /**
   * Returns a free slot, or admits the query without one: column queries must not wait for
   * queries that occupy DuckDB. Such a query must call `ensureSlot` before it uses DuckDB.
   */
  async acquireOrStartWithoutSlot(queryContext: QueryContext): Promise<QueryTicket> {
    if (this.#acquireFree(queryContext) || this.#acquireIdle(queryContext))
      return this.#ticket(queryContext, 'held');
    if (this.#counts.withoutSlot >= this.#count * MAX_WITHOUT_SLOT_PER_SLOT)
      return await this.acquire(queryContext);
    this.#counts.withoutSlot++;
    return this.#ticket(queryContext, 'withoutSlot');
  }

  #ticket(queryContext: QueryContext, state: 'held' | 'withoutSlot'): QueryTicket {
    return new Ticket(queryContext, state, {
      idle: (ticket) => {
        if (this.#semaphore.waitingCount > 0 && this.#mayYield()) {
          this.#counts.yielded++;
          this.#semaphore.release(queryContext.owner);
          return 'yielded';
        }
        this.#idle.add(ticket);
        return 'idle';
      },
      busy: (ticket) => void this.#idle.delete(ticket),
      acquire: async (from) => {
        await this.#wait(queryContext);
        this.#counts[from]--;
      },
      leave: (from) => void this.#counts[from]--,
      release: (ticket) => {
        this.#idle.delete(ticket);
        this.#semaphore.release(queryContext.owner);
      },
    });
  }

  #mayYield(): boolean {
    return this.#counts.yielded < this.#count * MAX_YIELDED_PER_SLOT;
  }

  async #wait(queryContext: QueryContext): Promise<void> {
    if (!this.#acquireFree(queryContext) && !this.#acquireIdle(queryContext))
      await this.#semaphore.acquire(queryContext);
  }

  #acquireFree({ owner }: QueryContext): boolean {
    return this.#semaphore.tryAcquire(owner);
  }

  /** Acquires the slot of a query that waits for its client. */
  #acquireIdle({ owner }: QueryContext): boolean {
    const [ticket] = this.#idle;
    if (ticket === undefined || !this.#mayYield()) return false;
    if (!this.#semaphore.transfer(ticket.owner, owner)) return false;
    this.#idle.delete(ticket);
    this.#counts.yielded++;
    ticket.noteYielded();
    return true;
  }
}

/** The possible states of a ticket without a slot. */
type SlotlessState = 'yielded' | 'withoutSlot';

/** Operations that a ticket needs from its pool. */
interface SlotPool {
  /** Offers the slot; returns whether another query acquired it immediately. */
  idle(ticket: Ticket): 'idle' | 'yielded';
  busy(ticket: Ticket): void;
  /** Resolves with a slot for a query that has none. */
  acquire(from: SlotlessState): Promise<void>;
  leave(from: SlotlessState): void;
  release(ticket: Ticket): void;
}

class Ticket implements QueryTicket {
  readonly #pool: SlotPool;
  readonly #queryContext: QueryContext;
  #state: 'held' | 'idle' | SlotlessState | 'acquiring' | 'released';

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
    return this.#state === 'yielded' ? this.#acquire('yielded') : undefined;
  }

  release(): void {
    const before = this.#state;
    this.#state = 'released';
    if (before === 'held' || before === 'idle') this.#pool.release(this);
    else if (before === 'yielded' || before === 'withoutSlot') this.#pool.leave(before);
  }

  ensureSlot(): Promise<void> | undefined {
    return this.#state === 'withoutSlot' ? this.#acquire('withoutSlot') : undefined;
  }

  async #acquire(from: SlotlessState): Promise<void> {
    this.#state = 'acquiring';
    try {
      if (this.#queryContext.signal.aborted) throw endOfQuery(this.#queryContext.signal);
      await this.#pool.acquire(from);
    } catch (error) {
      // Keep the previous state until it is released.
      if (this.#isAcquiring()) this.#state = from;
      else this.#pool.leave(from);
      throw error;
    }
    if (this.#isAcquiring()) this.#state = 'held';
    else this.#pool.release(this);
  }

  /** False if it was released in the meantime. */
  #isAcquiring(): boolean {
    return this.#state === 'acquiring';
  }
}
