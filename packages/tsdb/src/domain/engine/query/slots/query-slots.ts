import { tsdbError } from '../../../../errors.js';
import { endOfQuery } from '../../../../model/end-of-query.js';
import { WaitingLine } from '../../../../model/waiting-line.js';
import type { Asker } from './query-deadline.js';

/** Queries that may wait for a slot; more are refused. */
const MAX_WAITING = 10_000;

/** Queries that have lent their slot still hold what they have computed: so many for each slot. */
const MAX_LENT_PER_SLOT = 16;

/** Queries that begin without a slot, in case they need none: so many for each slot. */
const MAX_GUESTS_PER_SLOT = 16;

/** A query's place among those that run. */
export interface QuerySlot {
  /** The query waits for its client: others may run meanwhile. Twice is harmless. */
  lend(): void;
  /** The query goes on. `undefined`: at once; otherwise when there is a place again. Rejects with the end of the query. */
  reclaim(): Promise<void> | undefined;
  /** For one that began without a place (`admit`): it needs one from here on. Ends as `reclaim` does. */
  enter(): Promise<void> | undefined;
  /** Gives the place back for good; twice is harmless. */
  release(): void;
}

/** Lets so many queries run at a time; the others wait in order of arrival. */
export class QuerySlots {
  readonly #count: number;
  #free: number;
  #lentCount = 0;
  #guestCount = 0;
  readonly #waiting = new WaitingLine();
  /** Slots of queries that wait for their clients; the one that has waited longest is lent first. */
  readonly #idle = new Set<Slot>();

  constructor(count: number) {
    this.#count = count;
    this.#free = count;
  }

  get runningCount(): number {
    return this.#count - this.#free;
  }

  get waitingCount(): number {
    return this.#waiting.count;
  }

  async take(asker: Asker): Promise<QuerySlot> {
    if (this.#waiting.count >= MAX_WAITING) throw tsdbError('query_queue_full');
    if (!this.#takeFree() && !this.#borrow()) await this.#waiting.wait(asker.signal);
    return this.#slot(asker, 'held');
  }

  /**
   * A place if there is one, otherwise leave to begin as a guest: what is answered from memory must not wait for those that
   * keep the engine busy. Guests must `enter` before they ask the engine.
   */
  async admit(asker: Asker): Promise<QuerySlot> {
    if (this.#takeFree() || this.#borrow()) return this.#slot(asker, 'held');
    if (this.#guestCount >= this.#count * MAX_GUESTS_PER_SLOT) return await this.take(asker);
    this.#guestCount++;
    return this.#slot(asker, 'guest');
  }

  #slot(asker: Asker, state: 'held' | 'guest'): QuerySlot {
    return new Slot(asker, state, {
      idle: (slot) => {
        if (this.#waiting.count > 0 && this.#mayLend()) {
          this.#lentCount++;
          this.#give();
          return 'lent';
        }
        this.#idle.add(slot);
        return 'idle';
      },
      busy: (slot) => void this.#idle.delete(slot),
      regain: async () => {
        if (!this.#takeFree() && !this.#borrow()) await this.#waiting.wait(asker.signal);
        this.#lentCount--;
      },
      forget: () => void this.#lentCount--,
      enter: async () => {
        if (!this.#takeFree() && !this.#borrow()) await this.#waiting.wait(asker.signal);
        this.#guestCount--;
      },
      part: () => void this.#guestCount--,
      give: (slot) => {
        this.#idle.delete(slot);
        this.#give();
      },
    });
  }

  #mayLend(): boolean {
    return this.#lentCount < this.#count * MAX_LENT_PER_SLOT;
  }

  #takeFree(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  /** Takes the slot of a query that waits for its client. */
  #borrow(): boolean {
    const [slot] = this.#idle;
    if (slot === undefined || !this.#mayLend()) return false;
    this.#idle.delete(slot);
    this.#lentCount++;
    slot.wasLent();
    return true;
  }

  #give(): void {
    if (!this.#waiting.next()) this.#free++;
  }
}

/** What a slot asks of the others. */
interface SlotOwner {
  /** Offers the place; says whether it was taken at once. */
  idle(slot: Slot): 'idle' | 'lent';
  busy(slot: Slot): void;
  /** Resolves with a place for one that was lent. */
  regain(): Promise<void>;
  forget(): void;
  /** Resolves with a place for a guest. */
  enter(): Promise<void>;
  part(): void;
  give(slot: Slot): void;
}

class Slot implements QuerySlot {
  readonly #desk: SlotOwner;
  readonly #asker: Asker;
  #state: 'held' | 'idle' | 'lent' | 'regaining' | 'guest' | 'entering' | 'released';

  constructor(asker: Asker, state: 'held' | 'guest', desk: SlotOwner) {
    this.#asker = asker;
    this.#state = state;
    this.#desk = desk;
  }

  wasLent(): void {
    this.#state = 'lent';
  }

  lend(): void {
    if (this.#state === 'held') this.#state = this.#desk.idle(this);
  }

  reclaim(): Promise<void> | undefined {
    if (this.#state === 'idle') {
      this.#state = 'held';
      this.#desk.busy(this);
      return undefined;
    }
    return this.#state === 'lent' ? this.#regain() : undefined;
  }

  release(): void {
    const before = this.#state;
    this.#state = 'released';
    if (before === 'held' || before === 'idle') this.#desk.give(this);
    else if (before === 'lent') this.#desk.forget();
    else if (before === 'guest') this.#desk.part();
  }

  enter(): Promise<void> | undefined {
    return this.#state === 'guest' ? this.#enter() : undefined;
  }

  async #enter(): Promise<void> {
    this.#state = 'entering';
    try {
      if (this.#asker.signal.aborted) throw endOfQuery(this.#asker.signal);
      await this.#desk.enter();
    } catch (error) {
      // Still a guest, until it is released.
      if (this.#is('entering')) this.#state = 'guest';
      else this.#desk.part();
      throw error;
    }
    if (this.#is('entering')) this.#state = 'held';
    else this.#desk.give(this);
  }

  async #regain(): Promise<void> {
    this.#state = 'regaining';
    try {
      if (this.#asker.signal.aborted) throw endOfQuery(this.#asker.signal);
      await this.#desk.regain();
    } catch (error) {
      // Still one that is lent, until it is released.
      if (this.#is('regaining')) this.#state = 'lent';
      else this.#desk.forget();
      throw error;
    }
    if (this.#is('regaining')) this.#state = 'held';
    else this.#desk.give(this);
  }

  /** False when it was released meanwhile. */
  #is(state: 'regaining' | 'entering'): boolean {
    return this.#state === state;
  }
}
