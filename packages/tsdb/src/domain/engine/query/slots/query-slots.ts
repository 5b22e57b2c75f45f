import { tsdbError } from '../../../../errors.js';
import { endOfQuery } from '../../../../model/end-of-query.js';
import { FairSemaphore } from '../../../../model/fair-semaphore.js';
import type { QueryOwner } from '../../../../model/query-owner.js';

/** Queries that may wait for a slot; more are refused, and of one owner as many as leave as much for others. */
const MAX_WAITING = 10_000;

/** Queries that have lent their slot still hold what they have computed: so many for each slot. */
const MAX_LENT_PER_SLOT = 16;

/** Queries that begin without a slot, in case they need none: so many for each slot. */
const MAX_GUESTS_PER_SLOT = 16;

/** A query's place among those that run. */
export interface QuerySlot {
  /** The query waits for its client: others may run meanwhile. Twice is harmless. */
  yieldSlot(): void;
  /** The query goes on. `undefined`: at once; otherwise when there is a place again. Rejects with the end of the query. */
  reacquire(): Promise<void> | undefined;
  /** For one that began without a place (`admit`): it needs one from here on. Ends as `reclaim` does. */
  enter(): Promise<void> | undefined;
  /** Gives the place back for good; twice is harmless. */
  release(): void;
}

/** Lets so many queries run at a time; the others wait. */
export class QuerySlots {
  readonly #count: number;
  readonly #places: FairSemaphore;
  readonly #counts = { yielded: 0, guest: 0 };
  /** Slots of queries that wait for their clients; the one that has waited longest is lent first. */
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
   * A place if there is one, otherwise leave to begin as a guest: what is answered from memory must not wait for those that
   * keep the engine busy. Guests must `enter` before they ask the engine.
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

/** What a slot is that has no place. */
type WithoutSlot = 'yielded' | 'guest';

/** What a slot asks of the others. */
interface SlotOwner {
  /** Offers the place; says whether it was taken at once. */
  idle(slot: Slot): 'idle' | 'yielded';
  busy(slot: Slot): void;
  /** Resolves with a place for one that has none. */
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
      // Still what it was, until it is released.
      if (this.#isTaking()) this.#state = from;
      else this.#desk.leave(from);
      throw error;
    }
    if (this.#isTaking()) this.#state = 'held';
    else this.#desk.give(this);
  }

  /** False when it was released meanwhile. */
  #isTaking(): boolean {
    return this.#state === 'taking';
  }
}
