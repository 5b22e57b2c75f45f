import { QueryCancelled, QueryQueueFull } from '../../errors.js';

/** Queries that may wait for a slot; more are refused. */
const MAX_WAITING = 10_000;

/** Queries that have lent their slot still hold what they have computed: so many for each slot. */
const MAX_LENT_PER_SLOT = 16;

/** A query's place among those that run. */
export interface QuerySlot {
  /** The query waits for its client: others may run meanwhile. Twice is harmless. */
  lend(): void;
  /** The query goes on. `undefined`: at once; otherwise when there is a place again. Rejects with `QueryCancelled`. */
  reclaim(): Promise<void> | undefined;
  /** Gives the place back for good; twice is harmless. */
  release(): void;
}

/** Lets so many queries run at a time; the others wait in order of arrival. */
export class QuerySlots {
  readonly #count: number;
  #free: number;
  #lentCount = 0;
  readonly #waiting: (() => void)[] = [];
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
    return this.#waiting.length;
  }

  async take(signal: AbortSignal): Promise<QuerySlot> {
    if (this.#waiting.length >= MAX_WAITING) throw new QueryQueueFull();
    if (!this.#takeFree() && !this.#borrow()) await this.#wait(signal);
    return new Slot(signal, {
      idle: (slot) => {
        if (this.#waiting.length > 0 && this.#mayLend()) {
          this.#lentCount++;
          this.#give();
          return 'lent';
        }
        this.#idle.add(slot);
        return 'idle';
      },
      busy: (slot) => void this.#idle.delete(slot),
      regain: async () => {
        if (!this.#takeFree() && !this.#borrow()) await this.#wait(signal);
        this.#lentCount--;
      },
      forget: () => void this.#lentCount--,
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
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        const place = this.#waiting.indexOf(start);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(new QueryCancelled());
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(start);
    });
  }
}

/** What a slot asks of the others. */
interface SlotDesk {
  /** Offers the place; says whether it was taken at once. */
  idle(slot: Slot): 'idle' | 'lent';
  busy(slot: Slot): void;
  /** Resolves with a place for one that was lent. */
  regain(): Promise<void>;
  forget(): void;
  give(slot: Slot): void;
}

class Slot implements QuerySlot {
  readonly #desk: SlotDesk;
  readonly #signal: AbortSignal;
  #state: 'held' | 'idle' | 'lent' | 'regaining' | 'released' = 'held';

  constructor(signal: AbortSignal, desk: SlotDesk) {
    this.#signal = signal;
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
  }

  async #regain(): Promise<void> {
    this.#state = 'regaining';
    try {
      if (this.#signal.aborted) throw new QueryCancelled();
      await this.#desk.regain();
    } catch (error) {
      // Still one that is lent, until it is released.
      if (this.#isRegaining()) this.#state = 'lent';
      else this.#desk.forget();
      throw error;
    }
    if (this.#isRegaining()) this.#state = 'held';
    else this.#desk.give(this);
  }

  /** False when it was released meanwhile. */
  #isRegaining(): boolean {
    return this.#state === 'regaining';
  }
}
