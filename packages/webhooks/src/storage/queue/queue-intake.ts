import type { SqlConnection, StatementValue } from '@plinth/kernel';
import type { QueueItem } from '../../model/event.js';
import { eventInsertion } from './event-rows.js';
import { checkIdempotency, findResponses } from './idempotency-keys.js';
import type { AcceptedItem, AcceptOutcome, NewEvent, NewTarget } from './queue-model.js';
import { itemInsertion, QUEUE_COLUMNS } from './queue-rows.js';
import type { QueueSession } from './queue-session.js';
import type { RecordIds } from './record-ids.js';

/** Adds items to the queue. */
export class QueueIntake {
  readonly #session: QueueSession;
  readonly #ids: RecordIds;

  constructor(session: QueueSession, ids: RecordIds) {
    this.#session = session;
    this.#ids = ids;
  }

  /** Returns the responses to the events with these idempotency keys, which are valid for a day. */
  async responses(keys: readonly string[], nowMs: number): Promise<ReadonlyMap<string, string>> {
    return await findResponses(this.#session, keys, nowMs);
  }

  /** Accepts the batch completely or not at all. */
  async accept(batch: readonly NewEvent[], nowMs: number): Promise<readonly AcceptOutcome[]> {
    return await this.#session.write(async (tx) => {
      const refused = await checkIdempotency(this.#session, tx, batch, nowMs);
      const fresh = batch.filter((one) => !refused.has(one));
      const ids = await this.#ids.forItems(
        tx,
        fresh.reduce((sum, { targets }) => sum + targets.length, 0),
        nowMs,
      );
      const usedKeys = await keysInUse(this.#session, tx, fresh);
      const accepted = new Map(
        fresh.map((one) => [
          one,
          one.targets.map((target) =>
            newItem(one, target, {
              id: ids.next(),
              leaseHolder: this.#session.leaseHolder,
              keysInUse: usedKeys,
            }),
          ),
        ]),
      );
      await this.#session.sql.runAll(tx, [
        ...eventInsertion(this.#session, fresh),
        ...itemInsertion(this.#session, [...accepted.values()].flat()),
      ]);
      return batch.map(
        (one) => refused.get(one) ?? { kind: 'accepted', items: accepted.get(one) ?? [] },
      );
    });
  }

  /** Queues another attempt of each stored event. */
  async addRedeliveries(
    items: readonly { readonly appId: number; readonly guid: string }[],
    nowMs: number,
  ): Promise<void> {
    await this.#session.write(async (tx) => {
      const ids = await this.#ids.forItems(tx, items.length, nowMs);
      const rows = items.map(({ appId, guid }): StatementValue[] => [
        ids.next(),
        appId,
        guid,
        'redelivery',
        1,
        'pending',
        nowMs,
        null,
        null,
        null,
      ]);
      await this.#session.sql.insert(tx, 'webhooks_queue', QUEUE_COLUMNS, rows);
    });
  }
}

/** Returns the ordering keys that already have an unfinished item, as `appId key`. */
async function keysInUse(
  session: QueueSession,
  tx: SqlConnection,
  batch: readonly NewEvent[],
): Promise<Set<string>> {
  const keys = new Map<string, { appId: number; orderingKey: string }>();
  for (const { orderingKey, targets } of batch) {
    if (orderingKey === undefined) continue;
    for (const { appId, isOrdered } of targets) {
      if (isOrdered) keys.set(`${appId} ${orderingKey}`, { appId, orderingKey });
    }
  }
  await session.lockKeys(tx, [...keys.values()]);
  const names = [...keys.keys()];
  const lookups = await session.sql.runAll(
    tx,
    [...keys.values()].map(({ appId, orderingKey }) => ({
      text: `select 1 as one from webhooks_queue
        where app_id = ? and ordering_key = ? and state <> 'dead' limit 1`,
      parameters: [appId, orderingKey],
    })),
  );
  return new Set(names.filter((_, index) => (lookups[index]?.rows.length ?? 0) > 0));
}

/** Creates the item of one app and determines its initial state. */
function newItem(
  { event, dueMs, orderingKey }: NewEvent,
  target: NewTarget,
  options: { readonly id: number; readonly leaseHolder: string; readonly keysInUse: Set<string> },
): AcceptedItem {
  const { id, leaseHolder, keysInUse } = options;
  const { appId, isOrdered, isLeased } = target;
  const key = isOrdered ? orderingKey : undefined;
  const item: QueueItem = {
    id,
    leaseHolder,
    appId,
    guid: event.guid,
    kind: 'first',
    attemptNo: 1,
    dueMs,
    orderingKey: key,
    throttledSinceMs: undefined,
    event: event.event,
    action: event.action,
    installation_id: event.installation_id,
    repository_id: event.repository_id,
    payload: event.payload,
  };
  if (key === undefined) return { item, state: isLeased ? 'leased' : 'pending' };
  const name = `${appId} ${key}`;
  if (keysInUse.has(name)) return { item, state: 'held' };
  keysInUse.add(name);
  return { item, state: 'pending' };
}
