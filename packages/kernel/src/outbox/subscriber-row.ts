import type { Clock } from '../clock/clock.js';
import { RawStatements } from '../relational/raw-statements.js';
import type { RelationalStore } from '../relational/relational-store.js';
import { SHARED_NOW_MS } from '../relational/shared-now.js';
import type { OutboxEvent } from './outbox.js';

export interface StoredEvent extends OutboxEvent {
  readonly seq: number;
}

/** The result of one check. All values are from the same moment. */
export interface SubscriberStatus {
  /** The number of the last committed event. */
  readonly lastSeq: number;
  /** Whether there are undelivered events. */
  readonly hasNews: boolean;
  /** Whether no other node delivers to this subscriber. */
  readonly isFree: boolean;
}

interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly created_ms: number;
  readonly payload: string;
}

interface OutlookRow {
  readonly last_seq: number | null;
  readonly next_seq: number | null;
  /** SQLite has no booleans. */
  readonly is_free: boolean | number;
}

/** The lease time: a node that has not renewed its lease for this long has stopped or hangs. */
export const LEASE_MS = 5_000;
/** The conditions of the updates make serializable transactions unnecessary. */
const BY_ROW = { isolation: 'read_committed' } as const;

/**
 * A subscriber in the store: the position up to which it has received events and, in a shared store, the node that holds its
 * lease. A lease ends with an update of the position, or after `LEASE_MS`.
 */
export class SubscriberRow {
  readonly #store: RelationalStore;
  readonly #clock: Clock;
  readonly #sql: RawStatements;
  readonly #name: string;
  readonly #types: readonly string[];
  readonly #node: string;
  readonly #isShared: boolean;
  readonly #nowMs: string;
  readonly #isFree: string;

  constructor(deps: {
    readonly store: RelationalStore;
    readonly clock: Clock;
    readonly name: string;
    readonly types: readonly string[];
    readonly node: string;
  }) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#sql = new RawStatements(deps.store.system);
    this.#name = deps.name;
    this.#types = deps.types;
    this.#node = deps.node;
    this.#isShared = deps.store.system === 'postgresql';
    this.#nowMs = this.#isShared ? SHARED_NOW_MS : '0';
    this.#isFree = `(holder is null or holder = ? or held_until_ms < ${this.#nowMs})`;
  }

  /** Creates the row at startup, so that no event is removed before this subscriber has received it. */
  async make(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const text = `insert into kernel_outbox_positions (subscriber, position, seen_ms) values (?, 0, ?)
      on conflict (subscriber) do update set seen_ms = excluded.seen_ms`;
    await this.#write(text, [this.#name, nowMs]);
  }

  /** @param passedSeq number up to which earlier checks found no undelivered event. */
  async status(passedSeq: number): Promise<SubscriberStatus> {
    const text = `select (select max(seq) from kernel_outbox) as last_seq,
        (select seq from kernel_outbox where ${this.#isWaiting()} order by seq limit 1) as next_seq,
        ${this.#isFree} as is_free
      from kernel_outbox_positions where subscriber = ?`;
    const parameters = [...this.#waitingFor(passedSeq), this.#node, this.#name];
    const [row] = await this.#sql.all<OutlookRow>(this.#store.reader(), text, parameters);
    return {
      lastSeq: row?.last_seq ?? 0,
      hasNews: (row?.next_seq ?? null) !== null,
      isFree: Boolean(row?.is_free),
    };
  }

  /** Returns the first undelivered events. */
  async read(passedSeq: number, maxCount: number): Promise<readonly StoredEvent[]> {
    const text = `select seq, id, type, created_ms, payload from kernel_outbox
      where ${this.#isWaiting()} order by seq limit ?`;
    const parameters = [...this.#waitingFor(passedSeq), maxCount];
    const rows = await this.#sql.all<EventRow>(this.#store.reader(), text, parameters);
    return rows.map(({ seq, id, type, created_ms, payload }) => ({
      ...{ seq, id, type, createdMs: created_ms },
      payload: JSON.parse(payload) as unknown,
    }));
  }

  /** @returns false when another node holds the lease. */
  async acquire(): Promise<boolean> {
    if (!this.#isShared) return true;
    const text = `update kernel_outbox_positions set holder = ?, held_until_ms = ${this.#nowMs} + ${LEASE_MS}
      where subscriber = ? and ${this.#isFree}`;
    return (await this.#write(text, [this.#node, this.#name, this.#node])) > 0;
  }

  /** Records that the lease holder has delivered up to `seq`. @returns false when the lease has expired. */
  async advance(seq: number, lease: 'keep' | 'end'): Promise<boolean> {
    const position = 'set position = case when position < ? then ? else position end';
    if (!this.#isShared) {
      const text = `update kernel_outbox_positions ${position} where subscriber = ?`;
      return (await this.#write(text, [seq, seq, this.#name])) > 0;
    }
    const holder = lease === 'end' ? 'null' : 'holder';
    const text = `update kernel_outbox_positions ${position}, holder = ${holder},
        held_until_ms = ${this.#nowMs} + ${LEASE_MS}
      where subscriber = ? and holder = ?`;
    return (await this.#write(text, [seq, seq, this.#name, this.#node])) > 0;
  }

  /** Records that no undelivered event of this subscriber exists up to `seq`. */
  async pass(seq: number): Promise<void> {
    const text =
      'update kernel_outbox_positions set position = ? where subscriber = ? and position < ?';
    await this.#write(text, [seq, this.#name, seq]);
  }

  /** Checks both bounds: another node may have moved the position, and passed events may not be recorded yet. */
  #isWaiting(): string {
    const types = this.#types.map(() => '?').join(', ');
    return `seq > ? and seq > (select position from kernel_outbox_positions where subscriber = ?)
      and type in (${types})`;
  }

  #waitingFor(passedSeq: number): (string | number)[] {
    return [passedSeq, this.#name, ...this.#types];
  }

  async #write(text: string, parameters: readonly (string | number)[]): Promise<number> {
    return await this.#store.transaction(
      async (tx) => await this.#sql.run(tx, text, parameters),
      BY_ROW,
    );
  }
}
