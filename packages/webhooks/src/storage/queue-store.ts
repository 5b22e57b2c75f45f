import { RawStatements, type RelationalStore, type StatementValue } from '@plinth/kernel';
import type { AttemptRecord } from '../model/delivery.js';
import { isRedelivery, type QueueItem, type QueueState, type StoredEvent } from '../model/event.js';
import { TimeIds } from '../model/time-ids.js';
import { decodePayload, type EncodedPayload, type PayloadEncoding } from './payload-codec.js';

/** Idempotency keys are free again after a day. Source: webhooks, section 8.1. */
export const IDEMPOTENCY_MS = 86_400_000;

/** A node that has not said for so long that it is alive has lost its leases. */
export const NODE_LEASE_MS = 20_000;

export interface NewEvent {
  readonly event: StoredEvent;
  readonly encoded: EncodedPayload;
  readonly dueMs: number;
  readonly orderingKey: string | undefined;
  readonly targets: readonly NewTarget[];
  readonly idempotency: Idempotency | undefined;
}

export interface NewTarget {
  readonly appId: number;
  /** Events of this app with the same key go one after the other. */
  readonly isOrdered: boolean;
  /** The item is this node's at once. */
  readonly isLeased: boolean;
}

export interface Idempotency {
  readonly key: string;
  readonly bodyHash: string;
  /** What the first caller was answered. */
  readonly answer: string;
}

export type AcceptOutcome =
  | { readonly kind: 'accepted'; readonly items: readonly AcceptedItem[] }
  | { readonly kind: 'duplicate'; readonly answer: string }
  | { readonly kind: 'conflict' };

export interface AcceptedItem {
  readonly item: QueueItem;
  readonly state: QueueState;
}

export interface FinishedAttempt {
  readonly item: QueueItem;
  readonly record: AttemptRecord;
  readonly next:
    | { readonly kind: 'done' }
    | { readonly kind: 'dead' }
    | { readonly kind: 'retry'; readonly dueMs: number };
}

/** Items of an app that are claimed together. */
export interface ClaimRequest {
  readonly appId: number;
  readonly limit: number;
}

interface QueueRow {
  id: number;
  app_id: number;
  guid: string;
  kind: QueueItem['kind'];
  attempt_no: number;
  due_ms: number;
  ordering_key: string | null;
  throttled_ms: number | null;
}

interface EventRow {
  guid: string;
  event: string;
  action: string | null;
  installation_id: number | null;
  repository_id: number | null;
  encoding: PayloadEncoding;
  payload: Uint8Array | null;
}

const QUEUE_COLUMNS = [
  'id',
  'app_id',
  'guid',
  'kind',
  'attempt_no',
  'state',
  'due_ms',
  'node',
  'ordering_key',
  'throttled_ms',
];
const EVENT_COLUMNS = [
  'guid',
  'event',
  'action',
  'installation_id',
  'repository_id',
  'encoding',
  'payload',
  'accepted_ms',
  'used_ms',
];
const DELIVERY_COLUMNS = [
  'id',
  'app_id',
  'guid',
  'delivered_ms',
  'redelivery',
  'duration_ms',
  'status',
  'status_code',
  'event',
  'action',
  'installation_id',
  'repository_id',
  'throttled_ms',
];
const DETAIL_COLUMNS = [
  'id',
  'url',
  'request_headers',
  'response_headers',
  'response_body',
  'error',
];

/** Larger payloads stay in the database until their attempt begins. */
const MAX_CLAIMED_PAYLOAD_BYTES = 65_536;

const ORDERED = { isolation: 'read_committed' } as const;

/**
 * Events, the queue and the writing of records. Each method is one transaction. An item is leased to a node, and only
 * that node ends it: one that was away too long finds its items taken and changes nothing but the record.
 */
export class QueueStore {
  readonly #store: RelationalStore;
  readonly #sql: RawStatements;
  readonly #node: string;
  readonly #isShared: boolean;
  #queueIds = new TimeIds(0);
  #deliveryIds = new TimeIds(0);

  /** @param node unique among all processes that ever used the store. */
  constructor(store: RelationalStore, node: string) {
    this.#store = store;
    this.#sql = new RawStatements(store.engine);
    this.#node = node;
    this.#isShared = store.engine === 'postgresql';
  }

  get isShared(): boolean {
    return this.#isShared;
  }

  /** Takes up what an earlier process left. */
  async start(nowMs: number): Promise<void> {
    if (!this.#isShared) {
      const [last] = await this.#sql.all<{ queue: number | null; delivery: number | null }>(
        this.#reader,
        `select (select max(id) from webhooks_queue) as queue,
          (select max(id) from webhooks_deliveries) as delivery`,
      );
      this.#queueIds = new TimeIds(last?.queue ?? 0);
      this.#deliveryIds = new TimeIds(last?.delivery ?? 0);
      // One process at a time: whoever held a lease is gone.
      await this.#write(async (tx) => {
        await this.#sql.run(tx, 'delete from webhooks_nodes');
      });
    }
    await this.heartbeat(nowMs);
    await this.releaseExpired(nowMs);
  }

  async heartbeat(nowMs: number): Promise<void> {
    await this.#write(async (tx) => {
      const until = (await this.#nowMs(tx, nowMs)) + NODE_LEASE_MS;
      await this.#sql.run(
        tx,
        `insert into webhooks_nodes (id, alive_until_ms) values (?, ?)
          on conflict (id) do update set alive_until_ms = excluded.alive_until_ms`,
        [this.#node, until],
      );
    });
  }

  /** Gives back what dead nodes had leased. @returns how many items. */
  async releaseExpired(nowMs: number): Promise<number> {
    return await this.#write(async (tx) => {
      const now = await this.#nowMs(tx, nowMs);
      await this.#sql.run(tx, 'delete from webhooks_nodes where alive_until_ms < ?', [now]);
      return await this.#sql.run(
        tx,
        `update webhooks_queue set state = 'pending', node = null
          where state = 'leased' and node not in (select id from webhooks_nodes)`,
      );
    });
  }

  /** At a stop in order: others may go on at once. */
  async releaseOwn(): Promise<void> {
    await this.#write(async (tx) => {
      await this.#sql.run(
        tx,
        `update webhooks_queue set state = 'pending', node = null
          where state = 'leased' and node = ?`,
        [this.#node],
      );
      await this.#sql.run(tx, 'delete from webhooks_nodes where id = ?', [this.#node]);
    });
  }

  /** Gives back items that were claimed and not begun. */
  async release(ids: readonly number[]): Promise<void> {
    await this.#write(async (tx) => {
      await this.#sql.run(
        tx,
        `update webhooks_queue set state = 'pending', node = null
          where node = ? and ${this.#sql.isOneOfNumbers('id')}`,
        [this.#node, JSON.stringify(ids)],
      );
    });
  }

  async liveNodeCount(): Promise<number> {
    const [row] = await this.#sql.all<{ count: number }>(
      this.#reader,
      'select count(*) as count from webhooks_nodes',
    );
    return Math.max(1, row?.count ?? 1);
  }

  /** All of the batch or nothing. */
  async accept(batch: readonly NewEvent[], nowMs: number): Promise<readonly AcceptOutcome[]> {
    return await this.#write(async (tx) => {
      const refused = await this.#checkIdempotency(tx, batch, nowMs);
      const fresh = batch.filter((one) => !refused.has(one));
      const ids = await this.#newQueueIds(
        tx,
        fresh.reduce((sum, { targets }) => sum + targets.length, 0),
        nowMs,
      );
      const taken = await this.#keysInUse(tx, fresh);
      const accepted = new Map(
        fresh.map((one) => [
          one,
          one.targets.map((target) => place(one, target, ids.next(), taken)),
        ]),
      );
      await this.#insertEvents(tx, fresh);
      await this.#insertItems(tx, [...accepted.values()].flat());
      return batch.map(
        (one) => refused.get(one) ?? { kind: 'accepted', items: accepted.get(one) ?? [] },
      );
    });
  }

  /** Queues one more attempt of a stored event. */
  async addRedeliveries(
    items: readonly { readonly appId: number; readonly guid: string; readonly isLeased: boolean }[],
    nowMs: number,
  ): Promise<readonly number[]> {
    return await this.#write(async (tx) => {
      const ids = await this.#newQueueIds(tx, items.length, nowMs);
      const rows = items.map(({ appId, guid, isLeased }): StatementValue[] => [
        ids.next(),
        appId,
        guid,
        'redelivery',
        1,
        isLeased ? 'leased' : 'pending',
        nowMs,
        isLeased ? this.#node : null,
        null,
        null,
      ]);
      await this.#sql.insert(tx, 'webhooks_queue', QUEUE_COLUMNS, rows);
      return rows.map(([id]) => Number(id));
    });
  }

  /** Leases due items, oldest first; what other nodes are claiming at the moment is left to them. */
  async claim(requests: readonly ClaimRequest[], nowMs: number): Promise<readonly QueueItem[]> {
    const rows = await this.#write(async (tx) => {
      const claimed = await Promise.all(
        requests.map(({ appId, limit }) =>
          this.#sql.all<QueueRow>(tx, this.#claimText, [this.#node, appId, nowMs, limit]),
        ),
      );
      return claimed.flat();
    });
    if (rows.length === 0) return [];
    const events = await this.#readEvents(
      rows.map(({ guid }) => guid),
      MAX_CLAIMED_PAYLOAD_BYTES,
    );
    const items = rows.flatMap((row) => {
      const event = events.get(row.guid);
      return event === undefined ? [] : [toItem(row, event.row, event.payload)];
    });
    return items.sort((a, b) => a.dueMs - b.dueMs || a.id - b.id);
  }

  /** Undefined: it is kept no longer. */
  async readPayload(guid: string): Promise<Uint8Array | undefined> {
    return (await this.#readEvents([guid], Number.MAX_SAFE_INTEGER)).get(guid)?.payload;
  }

  /** The event without its payload. */
  async readEvent(guid: string): Promise<Omit<EventRow, 'payload' | 'encoding'> | undefined> {
    return (await this.#readEvents([guid], 0)).get(guid)?.row;
  }

  /** Writes records and moves their items on. @returns the ids of the records, in order. */
  async finish(batch: readonly FinishedAttempt[], nowMs: number): Promise<readonly number[]> {
    return await this.#write(async (tx) => {
      await this.#lockKeys(
        tx,
        batch.map(({ item }) => item),
      );
      const ids = await this.#newDeliveryIds(tx, batch.length, nowMs);
      const recordIds = batch.map(() => ids.next());
      const summaries = batch.map((one, index) => summaryRow(one, recordIds[index] ?? 0));
      const details = batch.map((one, index) => detailRow(one, recordIds[index] ?? 0));
      const done = batch.filter(({ next }) => next.kind === 'done').map(({ item }) => item.id);
      const again = batch.filter(({ item }) => isRedelivery(item)).map(({ item }) => item.guid);
      await Promise.all([
        this.#sql.insert(tx, 'webhooks_deliveries', DELIVERY_COLUMNS, summaries),
        this.#sql.insert(tx, 'webhooks_delivery_details', DETAIL_COLUMNS, details),
        done.length > 0
          ? this.#sql.run(
              tx,
              `delete from webhooks_queue where node = ? and ${this.#sql.isOneOfNumbers('id')}`,
              [this.#node, JSON.stringify(done)],
            )
          : undefined,
        // A record keeps its payload as long as it lives itself.
        again.length > 0
          ? this.#sql.run(
              tx,
              `update webhooks_events set used_ms = ? where ${this.#sql.isOneOf('guid')}`,
              [nowMs, JSON.stringify(again)],
            )
          : undefined,
        ...batch.map((one) => this.#moveOn(tx, one)),
      ]);
      await this.#promoteHeld(tx, batch);
      return recordIds;
    });
  }

  /** Ends what waits for an app. */
  async cancel(tx: unknown, appId: number): Promise<void> {
    await this.#sql.run(tx, 'delete from webhooks_queue where app_id = ?', [appId]);
  }

  async cancelNow(appId: number): Promise<void> {
    await this.#write(async (tx) => await this.cancel(tx, appId));
  }

  /** Dead items begin anew. @returns how many. */
  async reviveDead(appId: number, nowMs: number): Promise<number> {
    return await this.#write(
      async (tx) =>
        await this.#sql.run(
          tx,
          `update webhooks_queue set state = 'pending', kind = 'redelivery', attempt_no = 1,
            due_ms = ?, ordering_key = null where app_id = ? and state = 'dead'`,
          [nowMs, appId],
        ),
    );
  }

  /** Apps with pending items and when the first of them is due; costs one look per such app. */
  async pendingApps(): Promise<readonly { readonly appId: number; readonly dueMs: number }[]> {
    const rows = await this.#sql.all<{ app_id: number; due_ms: number | null }>(
      this.#reader,
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

  /** How many items wait or run, by app. */
  async queuedCounts(): Promise<ReadonlyMap<number, number>> {
    const counts = new Map<number, number>();
    for (const state of ['pending', 'leased', 'held'] as const) {
      const rows = await this.#sql.all<{ app_id: number; count: number }>(
        this.#reader,
        `select app_id, count(*) as count from webhooks_queue where state = '${state}' group by app_id`,
      );
      for (const { app_id, count } of rows) counts.set(app_id, (counts.get(app_id) ?? 0) + count);
    }
    return counts;
  }

  async countByState(appId: number): Promise<Readonly<Record<QueueState, number>>> {
    const counts = { pending: 0, held: 0, leased: 0, dead: 0 };
    const rows = await this.#sql.all<{ state: QueueState; count: number }>(
      this.#reader,
      'select state, count(*) as count from webhooks_queue where app_id = ? group by state',
      [appId],
    );
    for (const { state, count } of rows) counts[state] = count;
    return counts;
  }

  async totalByState(): Promise<Readonly<Record<QueueState, number>>> {
    const counts = { pending: 0, held: 0, leased: 0, dead: 0 };
    const rows = await this.#sql.all<{ state: QueueState; count: number }>(
      this.#reader,
      'select state, count(*) as count from webhooks_queue group by state',
    );
    for (const { state, count } of rows) counts[state] = count;
    return counts;
  }

  async oldestDueMs(appId?: number): Promise<number | undefined> {
    const [row] = await this.#sql.all<{ due_ms: number | null }>(
      this.#reader,
      `select min(due_ms) as due_ms from webhooks_queue where state = 'pending'${
        appId === undefined ? '' : ' and app_id = ?'
      }`,
      appId === undefined ? [] : [appId],
    );
    return row?.due_ms ?? undefined;
  }

  /** Items that are not finished, oldest first. */
  async listItems(
    appId: number,
    states: readonly QueueState[],
    limit: number,
  ): Promise<readonly (QueueItem & { readonly state: QueueState })[]> {
    const rows = await this.#sql.all<QueueRow & { state: QueueState }>(
      this.#reader,
      `select ${QUEUE_COLUMNS.join(', ')} from webhooks_queue
        where app_id = ? and ${this.#sql.isOneOf('state')} order by id limit ?`,
      [appId, JSON.stringify(states), limit],
    );
    const events = await this.#readEvents(
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

  get #reader(): unknown {
    return this.#store.reader<never>();
  }

  async #write<T>(work: (tx: unknown) => Promise<T>): Promise<T> {
    return await this.#store.transaction<never, T>(work, ORDERED);
  }

  get #claimText(): string {
    const pick = `select id from webhooks_queue where app_id = ? and state = 'pending' and due_ms <= ?
      order by due_ms, id limit ?`;
    const condition = this.#isShared
      ? `id = any(array(${pick} for update skip locked))`
      : `id in (${pick})`;
    return `update webhooks_queue set state = 'leased', node = ? where ${condition}
      returning id, app_id, guid, kind, attempt_no, due_ms, ordering_key, throttled_ms`;
  }

  /** Nodes compare their leases by one clock. */
  async #nowMs(tx: unknown, nowMs: number): Promise<number> {
    if (!this.#isShared) return nowMs;
    const [row] = await this.#sql.all<{ now_ms: number }>(
      tx,
      'select (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms',
    );
    return row?.now_ms ?? nowMs;
  }

  async #newQueueIds(tx: unknown, count: number, nowMs: number): Promise<IdSource> {
    if (!this.#isShared) return { next: () => this.#queueIds.next(nowMs) };
    return await this.#fromSequence(tx, 'webhooks_queue_id', count);
  }

  async #newDeliveryIds(tx: unknown, count: number, nowMs: number): Promise<IdSource> {
    if (!this.#isShared) return { next: () => this.#deliveryIds.next(nowMs) };
    return await this.#fromSequence(tx, 'webhooks_delivery_id', count);
  }

  async #fromSequence(tx: unknown, sequence: string, count: number): Promise<IdSource> {
    const rows =
      count === 0
        ? []
        : await this.#sql.all<{ id: number }>(
            tx,
            `select nextval('${sequence}') as id from generate_series(1, ?::int)`,
            [count],
          );
    let index = 0;
    return { next: () => rows[index++]?.id ?? 0 };
  }

  async #checkIdempotency(
    tx: unknown,
    batch: readonly NewEvent[],
    nowMs: number,
  ): Promise<ReadonlyMap<NewEvent, AcceptOutcome>> {
    const refused = new Map<NewEvent, AcceptOutcome>();
    const firstOf = new Map<string, NewEvent & { readonly idempotency: Idempotency }>();
    const later: [NewEvent, Idempotency][] = [];
    for (const one of batch) {
      const { idempotency } = one;
      if (idempotency === undefined) continue;
      if (firstOf.has(idempotency.key)) later.push([one, idempotency]);
      else firstOf.set(idempotency.key, { ...one, idempotency });
    }
    if (firstOf.size === 0) return refused;
    const fresh = await this.#sql.insertReturning<{ key: string }>(
      tx,
      'webhooks_idempotency',
      ['key', 'body_hash', 'answer', 'accepted_ms'],
      [...firstOf.values()].map(({ idempotency: { key, bodyHash, answer } }) => [
        key,
        bodyHash,
        answer,
        nowMs,
      ]),
      `on conflict (key) do update set body_hash = excluded.body_hash, answer = excluded.answer,
        accepted_ms = excluded.accepted_ms
        where webhooks_idempotency.accepted_ms <= excluded.accepted_ms - ${IDEMPOTENCY_MS}
        returning key`,
    );
    const freshKeys = new Set(fresh.map(({ key }) => key));
    const known = await this.#sql.all<{ key: string; body_hash: string; answer: string }>(
      tx,
      `select key, body_hash, answer from webhooks_idempotency where ${this.#sql.isOneOf('key')}`,
      [JSON.stringify([...firstOf.keys()])],
    );
    const knownByKey = new Map(known.map((row) => [row.key, row]));
    const judge = (one: NewEvent, { key, bodyHash }: Idempotency): void => {
      const row = knownByKey.get(key);
      refused.set(
        one,
        row?.body_hash === bodyHash
          ? { kind: 'duplicate', answer: row.answer }
          : { kind: 'conflict' },
      );
    };
    for (const one of batch) {
      const key = one.idempotency?.key;
      if (key === undefined || one.idempotency === undefined) continue;
      if (firstOf.get(key)?.event === one.event && !freshKeys.has(key)) judge(one, one.idempotency);
    }
    for (const [one, idempotency] of later) judge(one, idempotency);
    return refused;
  }

  /** Keys of ordered apps that have an item already, as `appId key`. */
  async #keysInUse(tx: unknown, batch: readonly NewEvent[]): Promise<Set<string>> {
    const wanted = new Map<string, { appId: number; orderingKey: string }>();
    for (const { orderingKey, targets } of batch) {
      if (orderingKey === undefined) continue;
      for (const { appId, isOrdered } of targets) {
        if (isOrdered) wanted.set(`${appId} ${orderingKey}`, { appId, orderingKey });
      }
    }
    await this.#lockKeys(tx, [...wanted.values()]);
    const inUse = new Set<string>();
    await Promise.all(
      [...wanted].map(async ([name, { appId, orderingKey }]) => {
        const rows = await this.#sql.all(
          tx,
          `select 1 as one from webhooks_queue
            where app_id = ? and ordering_key = ? and state <> 'dead' limit 1`,
          [appId, orderingKey],
        );
        if (rows.length > 0) inUse.add(name);
      }),
    );
    return inUse;
  }

  /** On several nodes, whoever adds to a key and whoever ends its head must not pass each other unseen. */
  async #lockKeys(
    tx: unknown,
    items: readonly { readonly appId: number; readonly orderingKey: string | undefined }[],
  ): Promise<void> {
    if (!this.#isShared) return;
    const names = new Set(
      items.flatMap(({ appId, orderingKey }) =>
        orderingKey === undefined ? [] : [`${appId} ${orderingKey}`],
      ),
    );
    // Always in the same order, so that two transactions never wait for each other.
    for (const name of [...names].sort()) {
      await this.#sql.all(tx, 'select pg_advisory_xact_lock(hashtextextended(?, 7))', [name]);
    }
  }

  async #insertEvents(tx: unknown, batch: readonly NewEvent[]): Promise<void> {
    const rows = batch
      .filter(({ targets }) => targets.length > 0)
      .map(({ event, encoded }): StatementValue[] => [
        event.guid,
        event.event,
        event.action ?? null,
        event.installation_id ?? null,
        event.repository_id ?? null,
        encoded.encoding,
        encoded.bytes,
        event.acceptedMs,
        event.acceptedMs,
      ]);
    await this.#sql.insert(tx, 'webhooks_events', EVENT_COLUMNS, rows);
  }

  async #insertItems(tx: unknown, items: readonly AcceptedItem[]): Promise<void> {
    const rows = items.map(({ item, state }): StatementValue[] => [
      item.id,
      item.appId,
      item.guid,
      item.kind,
      item.attemptNo,
      state,
      item.dueMs,
      state === 'leased' ? this.#node : null,
      item.orderingKey ?? null,
      null,
    ]);
    await this.#sql.insert(tx, 'webhooks_queue', QUEUE_COLUMNS, rows);
  }

  async #moveOn(tx: unknown, { item, record, next }: FinishedAttempt): Promise<void> {
    if (next.kind === 'done') return;
    const isRetry = next.kind === 'retry';
    await this.#sql.run(
      tx,
      `update webhooks_queue set state = ?, node = null, attempt_no = attempt_no + ?, due_ms = ?,
        throttled_ms = ? where id = ? and node = ?`,
      [
        isRetry ? 'pending' : 'dead',
        isRetry ? 1 : 0,
        isRetry ? next.dueMs : item.dueMs,
        isRetry ? (record.throttledMs ?? null) : null,
        item.id,
        this.#node,
      ],
    );
  }

  /** The next item of a key may go when the one before it is done or dead. */
  async #promoteHeld(tx: unknown, batch: readonly FinishedAttempt[]): Promise<void> {
    for (const { item, next } of batch) {
      const { appId, orderingKey } = item;
      if (orderingKey === undefined || next.kind === 'retry') continue;
      await this.#sql.run(
        tx,
        `update webhooks_queue set state = 'pending' where id =
          (select min(id) from webhooks_queue
            where app_id = ? and ordering_key = ? and state = 'held')
          and not exists (select 1 from webhooks_queue
            where app_id = ? and ordering_key = ? and state in ('pending', 'leased'))`,
        [appId, orderingKey, appId, orderingKey],
      );
    }
  }

  async #readEvents(
    guids: readonly string[],
    maxPayloadBytes: number,
  ): Promise<
    ReadonlyMap<string, { readonly row: EventRow; readonly payload: Uint8Array | undefined }>
  > {
    const rows = await this.#sql.all<EventRow>(
      this.#reader,
      `select guid, event, action, installation_id, repository_id, encoding,
        case when length(payload) <= ? then payload end as payload
        from webhooks_events where ${this.#sql.isOneOf('guid')}`,
      [maxPayloadBytes, JSON.stringify(guids)],
    );
    const entries = rows.map(async (row) => {
      const bytes = row.payload;
      const payload =
        bytes === null ? undefined : await decodePayload({ encoding: row.encoding, bytes });
      return [row.guid, { row, payload }] as const;
    });
    return new Map(await Promise.all(entries));
  }
}

interface IdSource {
  next(): number;
}

function place(
  { event, dueMs, orderingKey }: NewEvent,
  target: NewTarget,
  id: number,
  keysInUse: Set<string>,
): AcceptedItem {
  const { appId, isOrdered, isLeased } = target;
  const key = isOrdered ? orderingKey : undefined;
  const item: QueueItem = {
    id,
    appId,
    guid: event.guid,
    kind: 'first',
    attemptNo: 1,
    dueMs,
    orderingKey: key,
    throttledMs: undefined,
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

function toItem(row: QueueRow, event: EventRow, payload: Uint8Array | undefined): QueueItem {
  return {
    id: row.id,
    appId: row.app_id,
    guid: row.guid,
    kind: row.kind,
    attemptNo: row.attempt_no,
    dueMs: row.due_ms,
    orderingKey: row.ordering_key ?? undefined,
    throttledMs: row.throttled_ms ?? undefined,
    event: event.event,
    action: event.action ?? undefined,
    installation_id: event.installation_id ?? undefined,
    repository_id: event.repository_id ?? undefined,
    payload,
  };
}

function summaryRow({ item, record }: FinishedAttempt, id: number): StatementValue[] {
  return [
    id,
    item.appId,
    item.guid,
    record.deliveredMs,
    isRedelivery(item) ? 1 : 0,
    record.durationMs,
    record.status,
    record.status_code,
    item.event,
    item.action ?? null,
    item.installation_id ?? null,
    item.repository_id ?? null,
    record.throttledMs ?? null,
  ];
}

function detailRow({ record }: FinishedAttempt, id: number): StatementValue[] {
  const { responseHeaders } = record;
  return [
    id,
    record.url,
    JSON.stringify(record.requestHeaders),
    responseHeaders === undefined ? null : JSON.stringify(responseHeaders),
    record.responseBody ?? null,
    record.error ?? null,
  ];
}
