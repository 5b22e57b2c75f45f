import { TimeIds } from '../../model/time-ids.js';
import type { QueueBase } from './queue-base.js';

/** Differs from the locks of keys, which are hashes, as well as any number does. */
const DELIVERY_ORDER_LOCK = 7_301_994_117;

export interface IdSource {
  next(): number;
}

/** Numbers of queue items and records: by the clock where one process has the store, from sequences elsewhere. */
export class RecordIds {
  readonly #base: QueueBase;
  #queueIds = new TimeIds(0);
  #deliveryIds = new TimeIds(0);

  constructor(base: QueueBase) {
    this.#base = base;
  }

  /** Goes on behind what an earlier process gave out. */
  async start(): Promise<void> {
    if (this.#base.isShared) return;
    const [last] = await this.#base.sql.all<{ queue: number | null; delivery: number | null }>(
      this.#base.reader,
      `select (select max(id) from webhooks_queue) as queue,
        (select max(id) from webhooks_deliveries) as delivery`,
    );
    this.#queueIds = new TimeIds(last?.queue ?? 0);
    this.#deliveryIds = new TimeIds(last?.delivery ?? 0);
  }

  async forItems(tx: unknown, count: number, nowMs: number): Promise<IdSource> {
    if (!this.#base.isShared) return { next: () => this.#queueIds.next(nowMs) };
    return await this.#fromSequence(tx, 'webhooks_queue_id', count);
  }

  /** Records are seen in the order of their ids, so that lists only grow at their head. */
  async forDeliveries(tx: unknown, count: number, nowMs: number): Promise<IdSource> {
    if (!this.#base.isShared) return { next: () => this.#deliveryIds.next(nowMs) };
    // Held to the commit; taken after the locks of keys, so that two transactions never wait for each other.
    await this.#base.sql.all(tx, 'select pg_advisory_xact_lock(?)', [DELIVERY_ORDER_LOCK]);
    return await this.#fromSequence(tx, 'webhooks_delivery_id', count);
  }

  async #fromSequence(tx: unknown, sequence: string, count: number): Promise<IdSource> {
    const rows =
      count === 0
        ? []
        : await this.#base.sql.all<{ id: number }>(
            tx,
            `select nextval('${sequence}') as id from generate_series(1, ?::int)`,
            [count],
          );
    let index = 0;
    return { next: () => rows[index++]?.id ?? 0 };
  }
}
