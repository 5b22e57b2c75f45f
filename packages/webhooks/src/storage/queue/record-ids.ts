import type { SqlConnection } from '@plinth/kernel';
import { TimeIds } from '../../model/time-ids.js';
import type { QueueSession } from './queue-session.js';

/**
 * Lock number for record ids. A collision with a hashed ordering-key lock is as unlikely as for any
 * other number.
 */
const DELIVERY_ORDER_LOCK = 7_301_994_117;

export interface IdSource {
  next(): number;
}

/**
 * Assigns ids of queue items and records: time-based in SQLite, from sequences on a shared store.
 */
export class RecordIds {
  readonly #session: QueueSession;
  #queueIds = new TimeIds(0);
  #deliveryIds = new TimeIds(0);

  constructor(session: QueueSession) {
    this.#session = session;
  }

  /** Continues after the ids of earlier processes. */
  async start(): Promise<void> {
    if (this.#session.isShared) return;
    const [last] = await this.#session.sql.all<{ queue: number | null; delivery: number | null }>(
      this.#session.reader,
      `select (select max(id) from webhooks_queue) as queue,
        (select max(id) from webhooks_deliveries) as delivery`,
    );
    this.#queueIds = new TimeIds(last?.queue ?? 0);
    this.#deliveryIds = new TimeIds(last?.delivery ?? 0);
  }

  async forItems(tx: SqlConnection, count: number, nowMs: number): Promise<IdSource> {
    if (!this.#session.isShared) return { next: () => this.#queueIds.next(nowMs) };
    return await this.#fromSequence(tx, 'webhooks_queue_id', count);
  }

  /**
   * Returns ids for new records. Records become visible in id order, so that lists grow only at
   * their head.
   */
  async forDeliveries(tx: SqlConnection, count: number, nowMs: number): Promise<IdSource> {
    if (!this.#session.isShared) return { next: () => this.#deliveryIds.next(nowMs) };
    // Held until the commit, and taken after the locks of ordering keys to prevent deadlocks.
    await this.#session.sql.all(tx, 'select pg_advisory_xact_lock(?)', [DELIVERY_ORDER_LOCK]);
    return await this.#fromSequence(tx, 'webhooks_delivery_id', count);
  }

  async #fromSequence(tx: SqlConnection, sequence: string, count: number): Promise<IdSource> {
    const rows =
      count === 0
        ? []
        : await this.#session.sql.all<{ id: number }>(
            tx,
            `select nextval('${sequence}') as id from generate_series(1, ?::int)`,
            [count],
          );
    let index = 0;
    return { next: () => rows[index++]?.id ?? 0 };
  }
}
