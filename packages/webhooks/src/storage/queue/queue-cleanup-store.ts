import type { SqlConnection } from '@plinth/kernel';
import type { AttemptRecord } from '../../model/delivery.js';
import type { QueueItem } from '../../model/event.js';
import { countRecords } from '../delivery-counts.js';
import { type EventRow, extendRetention } from './event-rows.js';
import { type QueueRow, toItem } from './queue-rows.js';
import type { QueueSession } from './queue-session.js';
import type { RecordIds } from './record-ids.js';
import { recordInsertion } from './record-rows.js';

/** Maximum items per transaction. The transaction blocks other writers for several milliseconds. */
const BATCH_COUNT = 500;

type Row = QueueRow & Omit<EventRow, 'encoding' | 'payload'>;

/** Removes items that will not be sent, because their webhook is disabled or deleted. */
export class QueueCleanupStore {
  readonly #session: QueueSession;
  readonly #ids: RecordIds;

  constructor(session: QueueSession, ids: RecordIds) {
    this.#session = session;
    this.#ids = ids;
  }

  /**
   * Replaces up to `BATCH_COUNT` items in `state` with delivery records, unless the webhook is
   * active.
   * @returns the number of items; 0 when none are left or the webhook is active.
   */
  async end(
    appId: number,
    state: 'held' | 'pending',
    record: AttemptRecord,
    nowMs: number,
  ): Promise<number> {
    return await this.#session.write(async (tx) => {
      if (await this.#isOn(tx, appId)) return 0;
      const items = (await this.#pick(tx, appId, state)).map((row) => toItem(row, row, undefined));
      await this.#session.lockKeys(tx, items);
      const ids = await this.#ids.forDeliveries(tx, items.length, nowMs);
      // Another node may have removed some of the items, so only items deleted here are recorded
      // here.
      const taken = await this.#take(tx, items, state);
      if (taken.length === 0) return 0;
      const records = taken.map((item) => ({ id: ids.next(), item, record }));
      const guids = [...new Set(taken.map(({ guid }) => guid))];
      await this.#session.sql.runAll(tx, [
        ...recordInsertion(this.#session, records),
        extendRetention(this.#session, guids, nowMs),
      ]);
      if (state === 'pending') await this.#session.promoteHeld(tx, taken);
      await countRecords(this.#session.sql, tx, records);
      return taken.length;
    });
  }

  /**
   * Deletes dead items of a deleted app; their attempts are already recorded. @returns the number
   * of deleted items.
   */
  async dropDead(appId: number): Promise<number> {
    return await this.#session.write(
      async (tx) =>
        await this.#session.sql.run(
          tx,
          `delete from webhooks_queue where id in (select id from webhooks_queue
              where app_id = ? and state = 'dead' order by id limit ${BATCH_COUNT})
            and not exists (select 1 from webhooks_hooks where app_id = ?)`,
          [appId, appId],
        ),
    );
  }

  /** Returns deleted apps that still have dead items, because their cleanup was interrupted. */
  async appsWithoutHook(): Promise<readonly number[]> {
    const rows = await this.#session.sql.all<{ app_id: number }>(
      this.#session.reader,
      `select distinct app_id from webhooks_queue q where state = 'dead'
        and not exists (select 1 from webhooks_hooks h where h.app_id = q.app_id)`,
    );
    return rows.map(({ app_id }) => app_id);
  }

  async #isOn(tx: SqlConnection, appId: number): Promise<boolean> {
    const [hook] = await this.#session.sql.all<{ active: number }>(
      tx,
      'select active from webhooks_hooks where app_id = ?',
      [appId],
    );
    return hook?.active === 1;
  }

  async #pick(
    tx: SqlConnection,
    appId: number,
    state: 'held' | 'pending',
  ): Promise<readonly Row[]> {
    // The order matches the partial index of each state.
    const order = state === 'held' ? 'ordering_key, id' : 'due_ms, id';
    const keyed = state === 'held' ? 'and ordering_key is not null' : '';
    return await this.#session.sql.all<Row>(
      tx,
      `select q.id, q.app_id, q.guid, q.kind, q.attempt_no, q.due_ms, q.ordering_key, q.throttled_ms, q.node,
          e.event, e.action, e.installation_id, e.repository_id
        from (select * from webhooks_queue where app_id = ? and state = '${state}' ${keyed}
          order by ${order} limit ${BATCH_COUNT}) q
        join webhooks_events e on e.guid = q.guid`,
      [appId],
    );
  }

  async #take(
    tx: SqlConnection,
    items: readonly QueueItem[],
    state: 'held' | 'pending',
  ): Promise<readonly QueueItem[]> {
    const { sql } = this.#session;
    const rows = await sql.all<{ id: number }>(
      tx,
      `delete from webhooks_queue where ${sql.isOneOfNumbers('id')} and state = ? returning id`,
      [JSON.stringify(items.map(({ id }) => id)), state],
    );
    const taken = new Set(rows.map(({ id }) => id));
    return items.filter(({ id }) => taken.has(id)).sort((a, b) => a.id - b.id);
  }
}
