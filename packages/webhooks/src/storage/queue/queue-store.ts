import type { RelationalStore, Statement } from '@plinth/kernel';
import { isRetryOrRedelivery, type QueueItem } from '../../model/event.js';
import { countRecords } from '../delivery-counts.js';
import { extendRetention, readEvents } from './event-rows.js';
import { NodeLeases } from './node-leases.js';
import { QueueCleanupStore } from './queue-cleanup-store.js';
import { QueueCounts } from './queue-counts.js';
import { QueueIntake } from './queue-intake.js';
import type { ClaimRequest, FinishedAttempt } from './queue-model.js';
import { type QueueRow, toItem } from './queue-rows.js';
import { QueueSession } from './queue-session.js';
import { RecordIds } from './record-ids.js';
import { findRecords, recordInsertion } from './record-rows.js';

/** Larger payloads stay in the database until their attempt starts. */
const MAX_CLAIMED_PAYLOAD_BYTES = 65_536;

/**
 * Stores events, queue items and delivery records. Each method is one transaction. An item is
 * leased to a node, and only the holder of that lease can finish it. A node that has lost its lease
 * still writes its records, but does not change the items.
 */
export class QueueStore {
  readonly intake: QueueIntake;
  readonly nodes: NodeLeases;
  readonly counts: QueueCounts;
  readonly cleanup: QueueCleanupStore;
  readonly #session: QueueSession;
  readonly #ids: RecordIds;

  /**
   * @param process unique among all processes that ever used the store.
   * @param folder id of the data folder, which one process uses at a time.
   */
  constructor(store: RelationalStore, process: string, folder = process) {
    this.#session = new QueueSession(store, process, folder);
    this.#ids = new RecordIds(this.#session);
    this.intake = new QueueIntake(this.#session, this.#ids);
    this.nodes = new NodeLeases(this.#session);
    this.counts = new QueueCounts(this.#session);
    this.cleanup = new QueueCleanupStore(this.#session, this.#ids);
  }

  get leaseHolder(): string {
    return this.#session.leaseHolder;
  }

  get isShared(): boolean {
    return this.#session.isShared;
  }

  /** Releases the leases of earlier processes and continues their ids. */
  async start(nowMs: number): Promise<void> {
    await this.#ids.start();
    await this.nodes.register(nowMs);
  }

  /** Leases due items, oldest first, and skips rows that other nodes are claiming. */
  async claim(requests: readonly ClaimRequest[], nowMs: number): Promise<readonly QueueItem[]> {
    const rows = await this.#session.write(async (tx) => {
      const claimed = await this.#session.sql.runAll<QueueRow>(
        tx,
        requests.map(({ appId, limit }) => ({
          text: this.#claimText,
          parameters: [this.#session.leaseHolder, appId, nowMs, limit],
        })),
      );
      return claimed.flatMap(({ rows }) => rows);
    });
    if (rows.length === 0) return [];
    const events = await readEvents(
      this.#session,
      rows.map(({ guid }) => guid),
      MAX_CLAIMED_PAYLOAD_BYTES,
    );
    const items = rows.flatMap((row) => {
      const event = events.get(row.guid);
      return event === undefined ? [] : [toItem(row, event.row, event.payload)];
    });
    return items.sort((a, b) => a.dueMs - b.dueMs || a.id - b.id);
  }

  /** Returns the payload; undefined after its retention period. */
  async readPayload(guid: string): Promise<Uint8Array | undefined> {
    return (await readEvents(this.#session, [guid], Number.MAX_SAFE_INTEGER)).get(guid)?.payload;
  }

  /**
   * Writes records and moves their items to the next state.
   * @param mayBeStored a previous call failed and may have committed nevertheless.
   */
  async finish(
    batch: readonly FinishedAttempt[],
    nowMs: number,
    mayBeStored = false,
  ): Promise<void> {
    await this.#session.write(async (tx) => {
      await this.#session.lockKeys(
        tx,
        batch.map(({ item }) => item),
      );
      const ids = await this.#ids.forDeliveries(tx, batch.length, nowMs);
      // An earlier attempt that is still running holds the id lock until it ends.
      const isStored = mayBeStored ? await findRecords(this.#session, tx, batch) : () => false;
      const records = batch
        .filter((one) => !isStored(one))
        .map((one) => ({ ...one, id: ids.next() }));
      const completedItems = batch
        .filter(({ next }) => next.kind === 'done')
        .map(({ item }) => item);
      const repeatedGuids = batch
        .filter(({ item }) => isRetryOrRedelivery(item))
        .map(({ item }) => item.guid);
      const { sql } = this.#session;
      await sql.runAll(tx, [
        ...recordInsertion(this.#session, records),
        ...[...new Set(completedItems.map(({ leaseHolder }) => leaseHolder))].map((leaseHolder) =>
          this.#removal(completedItems, leaseHolder),
        ),
        // The payload is kept as long as its newest record.
        ...(repeatedGuids.length === 0
          ? []
          : [extendRetention(this.#session, repeatedGuids, nowMs)]),
        ...batch.flatMap((one) => this.#moveOn(one)),
      ]);
      const ended = batch.filter(({ next }) => next.kind !== 'retry');
      await this.#session.promoteHeld(
        tx,
        ended.map(({ item }) => item),
      );
      await countRecords(sql, tx, records);
    });
  }

  /** Returns dead items to the queue with a new retry schedule. @returns the number of items. */
  async reviveDead(appId: number, nowMs: number): Promise<number> {
    return await this.#session.write(
      async (tx) =>
        await this.#session.sql.run(
          tx,
          `update webhooks_queue set state = 'pending', kind = 'redelivery', attempt_no = 1,
            due_ms = ?, ordering_key = null where app_id = ? and state = 'dead'`,
          [nowMs, appId],
        ),
    );
  }

  /** The column `node` contains the lease holder, which is not always the name of a node. */
  get #claimText(): string {
    const pick = `select id from webhooks_queue where app_id = ? and state = 'pending' and due_ms <= ?
      order by due_ms, id limit ?`;
    const condition = this.#session.isShared
      ? `id = any(array(${pick} for update skip locked))`
      : `id in (${pick})`;
    return `update webhooks_queue set state = 'leased', node = ? where ${condition}
      returning id, app_id, guid, kind, attempt_no, due_ms, ordering_key, throttled_ms, node`;
  }

  /** Deletes the items that this lease holder still leases: see `#claimText`. */
  #removal(items: readonly QueueItem[], leaseHolder: QueueItem['leaseHolder']): Statement {
    const itemIds = items.filter((item) => item.leaseHolder === leaseHolder).map(({ id }) => id);
    const isOneOf = this.#session.sql.isOneOfNumbers('id');
    return {
      text: `delete from webhooks_queue where node = ? and ${isOneOf}`,
      parameters: [leaseHolder ?? null, JSON.stringify(itemIds)],
    };
  }

  #moveOn({ item, record, next }: FinishedAttempt): Statement[] {
    if (next.kind === 'done') return [];
    const isRetry = next.kind === 'retry';
    const text = `update webhooks_queue set state = ?, node = null, attempt_no = attempt_no + ?, due_ms = ?,
      throttled_ms = ? where id = ? and node = ?`;
    const parameters = [
      isRetry ? 'pending' : 'dead',
      isRetry ? 1 : 0,
      isRetry ? next.dueMs : item.dueMs,
      isRetry ? (record.throttledSinceMs ?? null) : null,
      item.id,
      item.leaseHolder ?? null,
    ];
    return [{ text, parameters }];
  }
}
