import type { QueueItem, QueueState } from '../../model/event.js';
import { readEvents } from './event-rows.js';
import { QUEUE_COLUMNS, type QueueRow, toItem } from './queue-rows.js';
import type { QueueSession } from './queue-session.js';

/** Counts queue items by app and state. */
export class QueueCounts {
  readonly #session: QueueSession;

  constructor(session: QueueSession) {
    this.#session = session;
  }

  /**
   * Returns apps with pending items and the earliest due time of each. This takes one index lookup
   * per app.
   */
  async pendingApps(): Promise<readonly { readonly appId: number; readonly dueMs: number }[]> {
    const rows = await this.#session.sql.all<{ app_id: number; due_ms: number | null }>(
      this.#session.reader,
      `with recursive apps (app_id) as (
          select min(app_id) from webhooks_queue where state = 'pending'
        union all
          select (select min(app_id) from webhooks_queue
            where state = 'pending' and app_id > apps.app_id)
          from apps where apps.app_id is not null)
        select app_id, (select min(due_ms) from webhooks_queue
          where state = 'pending' and app_id = apps.app_id) as due_ms
        from apps where app_id is not null`,
    );
    return rows.flatMap(({ app_id, due_ms }) =>
      due_ms === null ? [] : [{ appId: app_id, dueMs: due_ms }],
    );
  }

  /** Returns the number of pending, leased and held items by app. */
  async queuedCounts(): Promise<ReadonlyMap<number, number>> {
    const counts = new Map<number, number>();
    for (const state of ['pending', 'leased', 'held'] as const) {
      const rows = await this.#session.sql.all<{ app_id: number; count: number }>(
        this.#session.reader,
        `select app_id, count(*) as count from webhooks_queue where state = '${state}' group by app_id`,
      );
      for (const { app_id, count } of rows) counts.set(app_id, (counts.get(app_id) ?? 0) + count);
    }
    return counts;
  }

  async countByState(appId?: number): Promise<Readonly<Record<QueueState, number>>> {
    const counts = { pending: 0, held: 0, leased: 0, dead: 0 };
    const rows = await this.#session.sql.all<{ state: QueueState; count: number }>(
      this.#session.reader,
      `select state, count(*) as count from webhooks_queue${
        appId === undefined ? '' : ' where app_id = ?'
      } group by state`,
      appId === undefined ? [] : [appId],
    );
    for (const { state, count } of rows) counts[state] = count;
    return counts;
  }

  async oldestDueMs(appId?: number): Promise<number | undefined> {
    const [row] = await this.#session.sql.all<{ due_ms: number | null }>(
      this.#session.reader,
      `select min(due_ms) as due_ms from webhooks_queue where state = 'pending'${
        appId === undefined ? '' : ' and app_id = ?'
      }`,
      appId === undefined ? [] : [appId],
    );
    return row?.due_ms ?? undefined;
  }

  /** Returns unfinished items, oldest first. */
  async listItems(
    appId: number,
    states: readonly QueueState[],
    limit: number,
  ): Promise<readonly (QueueItem & { readonly state: QueueState })[]> {
    const rows = await this.#session.sql.all<QueueRow & { state: QueueState }>(
      this.#session.reader,
      `select ${QUEUE_COLUMNS.join(', ')} from webhooks_queue
        where app_id = ? and ${this.#session.sql.isOneOf('state')} order by id limit ?`,
      [appId, JSON.stringify(states), limit],
    );
    const events = await readEvents(
      this.#session,
      rows.map(({ guid }) => guid),
      0,
    );
    return rows.flatMap((row) => {
      const event = events.get(row.guid);
      return event === undefined
        ? []
        : [{ ...toItem(row, event.row, undefined), state: row.state }];
    });
  }
}
