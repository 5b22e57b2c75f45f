import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  NodeFileSystem,
  openPostgresStore,
  openRelationalStore,
  RawStatements,
  type RelationalStore,
  type StatementValue,
  SystemClock,
} from '@plinth/kernel';
import {
  POSTGRES_URL,
  PostgresDatabase,
  SeededRandom,
  temporaryFolder,
} from '@plinth/kernel/testing';
import { sql } from 'kysely';
import type { AttemptRecord, DeliveryFilter } from '../model/delivery.js';
import type { QueueItem } from '../model/event.js';
import { idAt } from '../model/time-ids.js';
import { DeliveryStore } from './delivery-store.js';
import { IDEMPOTENCY_MS } from './queue/idempotency-keys.js';
import { NODE_LEASE_MS } from './queue/node-leases.js';
import { encodePayload } from './queue/payload-codec.js';
import type { NewEvent } from './queue/queue-model.js';
import { QueueStore } from './queue/queue-store.js';
import { WEBHOOK_MIGRATIONS } from './tables.js';

const NOW_MS = Date.UTC(2026, 0, 10);
const DAY_MS = 86_400_000;

/** Runs `work` on a new store and removes the store afterwards. */
type WithStore = (work: (store: RelationalStore) => Promise<void>) => Promise<void>;

const onSqlite: WithStore = async (work) => {
  const folder = await temporaryFolder();
  const path = join(folder, 'plinth.db');
  const fileSystem = new NodeFileSystem();
  const store = await openRelationalStore({ path, clock: new SystemClock(), fileSystem });
  try {
    await store.migrate('webhooks', WEBHOOK_MIGRATIONS);
    await work(store);
  } finally {
    await store.close();
  }
};

const onPostgres: WithStore = async (work) => {
  await using database = await PostgresDatabase.create();
  const store = await openPostgresStore({
    url: database.url,
    clock: new SystemClock(),
    random: new SeededRandom(1),
    onConnectionLost: () => {},
  });
  try {
    await store.migrate('webhooks', WEBHOOK_MIGRATIONS);
    await work(store);
  } finally {
    await store.close();
  }
};

let lastGuid = 0;
async function newEvent(
  appId: number,
  more: Partial<Omit<NewEvent, 'event'>> & { readonly isLeased?: boolean } = {},
): Promise<NewEvent> {
  const payload = Buffer.from(`{"n":${++lastGuid}}`);
  const { isLeased = false, orderingKey, ...rest } = more;
  return {
    event: {
      guid: `guid-${String(lastGuid).padStart(6, '0')}`,
      event: 'issues',
      action: 'opened',
      installation_id: undefined,
      repository_id: 7,
      payload,
      acceptedMs: NOW_MS,
    },
    encoded: await encodePayload(payload),
    dueMs: NOW_MS,
    orderingKey,
    targets: [{ appId, isOrdered: orderingKey !== undefined, isLeased }],
    idempotency: undefined,
    ...rest,
  };
}

const record = (more: Partial<AttemptRecord> = {}): AttemptRecord => ({
  deliveredMs: NOW_MS,
  durationMs: 12.5,
  status: 'OK',
  status_code: 200,
  throttledSinceMs: undefined,
  url: 'http://example.com/',
  requestHeaders: { A: '1' },
  responseHeaders: { B: '2' },
  responseBody: Buffer.from('ok'),
  isResponseTruncated: false,
  error: undefined,
  ...more,
});

const done = (item: QueueItem, more: Partial<AttemptRecord> = {}) => ({
  item,
  record: record(more),
  next: { kind: 'done' } as const,
});

const guids = (items: readonly QueueItem[]) => items.map(({ guid }) => guid);

/** The storage contract on SQLite and PostgreSQL. Source: webhooks, sections 7 and 11. */
function webhookStoreContract(system: string, withStore: WithStore): void {
  describe(`webhook store on ${system}`, () => {
    it('claims due items, oldest first, each once', async () => {
      await withStore(async (store) => {
        const [one, other] = [new QueueStore(store, 'one'), new QueueStore(store, 'other')];
        await one.start(NOW_MS);
        await other.nodes.heartbeat(NOW_MS);
        const events = await Promise.all([
          newEvent(1, { dueMs: NOW_MS + 5 }),
          newEvent(1),
          newEvent(1, { dueMs: NOW_MS + 1000 }),
          newEvent(2),
        ]);
        await one.intake.accept(events, NOW_MS);
        assert.deepEqual(
          [...(await one.counts.pendingApps())].sort((a, b) => a.appId - b.appId),
          [
            { appId: 1, dueMs: NOW_MS },
            { appId: 2, dueMs: NOW_MS },
          ],
        );
        const claims = await Promise.all([
          one.claim([{ appId: 1, limit: 10 }], NOW_MS + 10),
          other.claim([{ appId: 1, limit: 10 }], NOW_MS + 10),
        ]);
        const claimed = claims.flat();
        assert.deepEqual(guids(claimed).sort(), [events[0]?.event.guid, events[1]?.event.guid]);
        const first = claimed.find(({ guid }) => guid === events[1]?.event.guid);
        assert.deepEqual(
          [first?.event, first?.action, first?.repository_id, first?.attemptNo],
          ['issues', 'opened', 7, 1],
        );
        assert.deepEqual(Buffer.from(first?.payload ?? []), events[1]?.event.payload);
        assert.deepEqual(await one.claim([{ appId: 1, limit: 10 }], NOW_MS + 10), []);
        assert.equal((await one.claim([{ appId: 1, limit: 10 }], NOW_MS + 1000)).length, 1);
      });
    });

    it('releases the items of a failed node, which can then no longer finish them', async () => {
      await withStore(async (store) => {
        const [dead, live] = [new QueueStore(store, 'dead'), new QueueStore(store, 'live')];
        await dead.start(NOW_MS);
        const [first] = await dead.intake.accept([await newEvent(1, { isLeased: true })], NOW_MS);
        const [outcome] = await dead.intake.accept([await newEvent(1, { isLeased: true })], NOW_MS);
        assert.equal(outcome?.kind === 'accepted' && outcome.items[0]?.state, 'leased');
        await store.transaction(async (tx) => {
          await sql`update webhooks_nodes set alive_until_ms = 1`.execute(tx);
        });
        const laterMs = NOW_MS + NODE_LEASE_MS + 1;
        await live.nodes.heartbeat(laterMs);
        assert.equal(await live.nodes.releaseExpired(laterMs), 2);
        const items = await live.claim([{ appId: 1, limit: 10 }], NOW_MS);
        assert.equal(items.length, 2);
        const was = first?.kind === 'accepted' && first.items[0]?.item;
        assert.ok(was);
        await dead.finish([done(was)], NOW_MS);
        assert.equal((await live.counts.countByState(1)).leased, 2);
        await live.finish(
          items.map((one) => done(one)),
          laterMs,
        );
        assert.deepEqual(await live.counts.countByState(1), {
          pending: 0,
          held: 0,
          leased: 0,
          dead: 0,
        });
      });
    });

    it('keeps an idempotency key for a day', async () => {
      await withStore(async (store) => {
        const queue = new QueueStore(store, 'node');
        await queue.start(NOW_MS);
        const keyed = async (bodyHash: string) =>
          await newEvent(1, {
            idempotency: { key: 'k', bodyHash, response: `answer ${bodyHash}` },
          });
        const kinds = async (batch: NewEvent[], nowMs: number) =>
          (await queue.intake.accept(batch, nowMs)).map(({ kind }) => kind);
        assert.deepEqual(
          await kinds([await keyed('a'), await keyed('a'), await keyed('b')], NOW_MS),
          ['accepted', 'duplicate', 'conflict'],
        );
        const [again] = await queue.intake.accept([await keyed('a')], NOW_MS + IDEMPOTENCY_MS - 1);
        assert.deepEqual(again, { kind: 'duplicate', response: 'answer a' });
        const stored = async (nowMs: number) => [...(await queue.intake.responses(['k'], nowMs))];
        assert.deepEqual(await stored(NOW_MS + IDEMPOTENCY_MS - 1), [['k', 'answer a']]);
        assert.deepEqual(await stored(NOW_MS + IDEMPOTENCY_MS), []);
        assert.deepEqual(await kinds([await keyed('b')], NOW_MS + IDEMPOTENCY_MS), ['accepted']);
        assert.equal((await queue.counts.countByState(1)).pending, 2);
      });
    });

    it('delivers one item per ordering key at a time', async () => {
      await withStore(async (store) => {
        const queue = new QueueStore(store, 'node');
        await queue.start(NOW_MS);
        const events = await Promise.all(
          ['a', 'b', 'a', 'a'].map((orderingKey) => newEvent(1, { orderingKey })),
        );
        await queue.intake.accept(events.slice(0, 3), NOW_MS);
        await queue.intake.accept(events.slice(3), NOW_MS);
        const claim = async () => await queue.claim([{ appId: 1, limit: 10 }], NOW_MS + DAY_MS);
        const heads = await claim();
        assert.deepEqual(guids(heads), [events[0]?.event.guid, events[1]?.event.guid]);
        const [head] = heads;
        assert.ok(head);
        const retry = {
          item: head,
          record: record(),
          next: { kind: 'retry', dueMs: NOW_MS },
        } as const;
        await queue.finish([retry], NOW_MS);
        const [again] = await claim();
        assert.deepEqual([again?.guid, again?.attemptNo], [head.guid, 2]);
        assert.ok(again);
        await queue.finish([{ item: again, record: record(), next: { kind: 'dead' } }], NOW_MS);
        const next = await claim();
        assert.deepEqual(guids(next), [events[2]?.event.guid]);
        await queue.finish(
          next.map((item) => done(item)),
          NOW_MS,
        );
        assert.deepEqual(guids(await claim()), [events[3]?.event.guid]);
        assert.equal((await queue.counts.countByState(1)).dead, 1);
      });
    });

    it('lists records newest first, by page, filter and app', async () => {
      await withStore(async (store) => {
        const queue = new QueueStore(store, 'node');
        const deliveries = new DeliveryStore(store);
        await queue.start(NOW_MS);
        await queue.intake.accept(
          await Promise.all(Array.from({ length: 5 }, () => newEvent(1))),
          NOW_MS,
        );
        const items = await queue.claim([{ appId: 1, limit: 10 }], NOW_MS);
        await queue.finish(
          items.map((item, n) => done(item, n === 2 ? { status_code: 502, status: 'x' } : {})),
          NOW_MS,
        );
        const ids = await recordIds(store, items);
        assert.deepEqual(
          ids,
          [...ids].sort((a, b) => a - b),
        );
        const page = await deliveries.list(1, {}, undefined, 2);
        assert.deepEqual(
          page.items.map(({ id }) => id),
          [ids[4], ids[3]],
        );
        assert.deepEqual([page.nextId, page.previousId], [ids[2], undefined]);
        const second = await deliveries.list(1, {}, ids[2], 2);
        assert.deepEqual([second.nextId, second.previousId], [ids[0], ids[4]]);
        const failed = await deliveries.list(1, { status: 'failure' }, undefined, 10);
        assert.deepEqual(
          failed.items.map(({ id }) => id),
          [ids[2]],
        );
        assert.deepEqual((await deliveries.list(2, {}, undefined, 10)).items, []);
        assert.equal(await deliveries.get(2, ids[0] ?? 0), undefined);
        const detail = await deliveries.get(1, ids[0] ?? 0);
        assert.deepEqual(
          [
            detail?.isResponseTruncated,
            detail?.durationMs,
            detail?.requestHeaders,
            Buffer.from(detail?.responseBody ?? []),
          ],
          [false, 12.5, { A: '1' }, Buffer.from('ok')],
        );
        const all = { fromId: 0, toId: await deliveries.lastId(1) };
        const lost = await deliveries.findToRedrive(1, { status: 'failure' }, all, 10);
        assert.deepEqual(lost, [{ id: ids[2], guid: items[2]?.guid }]);
      });
    });

    it('finds rare records among many in steps, with links to the neighbouring pages', async () => {
      await withStore(async (store) => {
        const deliveries = new DeliveryStore(store);
        const count = 25_000;
        const rare = new Set([3, 4, 9_999, 10_000, 12_000, 24_999]);
        const idOf = (n: number) => idAt(NOW_MS + n * 60_000) + 1;
        const statements = new RawStatements(store.system);
        const columns = ['id', 'app_id', 'guid', 'delivered_ms', 'redelivery', 'duration_ms'];
        const rows = Array.from({ length: count }, (_, n): StatementValue[] => [
          ...[idOf(n), 1, `guid-${n}`, NOW_MS + n * 60_000, 0, 1],
          ...['OK', n % 2 === 0 ? 200 : 500, rare.has(n) ? 'rare' : 'usual'],
        ]);
        await store.transaction(async (tx) => {
          await statements.insert(
            tx,
            'webhooks_deliveries',
            [...columns, 'status', 'status_code', 'event'],
            rows,
          );
        });
        const list = async (filter: DeliveryFilter, from: number | undefined, limit: number) => {
          const page = await deliveries.list(1, filter, from, limit);
          return [page.items.map(({ guid }) => guid), page.nextId, page.previousId];
        };
        const names = (...numbers: readonly number[]) => numbers.map((n) => `guid-${n}`);
        const event = { event: 'rare' };
        assert.deepEqual(await list(event, undefined, 2), [
          names(24_999, 12_000),
          idOf(10_000),
          undefined,
        ]);
        assert.deepEqual(await list(event, idOf(10_000), 2), [
          names(10_000, 9_999),
          idOf(4),
          idOf(24_999),
        ]);
        assert.deepEqual(await list(event, idOf(4), 5), [names(4, 3), undefined, idOf(24_999)]);
        assert.deepEqual(await list({ event: 'none' }, undefined, 5), [[], undefined, undefined]);
        assert.deepEqual(await list({ ...event, status: 'failure' }, undefined, 5), [
          names(24_999, 9_999, 3),
          undefined,
          undefined,
        ]);
        const between = {
          sinceMs: NOW_MS + 9_999 * 60_000,
          untilMs: NOW_MS + 12_000 * 60_000,
        };
        assert.deepEqual(await list({ ...event, ...between }, undefined, 5), [
          names(12_000, 10_000, 9_999),
          undefined,
          undefined,
        ]);
        const [items] = await list(between, undefined, 3000);
        assert.equal((items as unknown[]).length, 2002);
        assert.deepEqual(await list({ sinceMs: NOW_MS + count * 60_000 }, undefined, 5), [
          [],
          undefined,
          undefined,
        ]);
        assert.deepEqual(await list({ untilMs: NOW_MS - 1 }, undefined, 5), [
          [],
          undefined,
          undefined,
        ]);
      });
    });

    it('computes figures of recent attempts, of at most the newest ones', async () => {
      await withStore(async (store) => {
        const deliveries = new DeliveryStore(store);
        const statements = new RawStatements(store.system);
        const columns = ['id', 'app_id', 'guid', 'delivered_ms', 'redelivery', 'duration_ms'];
        // One attempt a minute with durations of 1 to 120 ms. Every tenth one fails, one is redirected, and one has no response.
        const statusOf = (n: number) => (n % 10 === 0 ? 503 : n === 119 ? 0 : n === 61 ? 302 : 204);
        const rows = Array.from({ length: 120 }, (_, n): StatementValue[] => [
          ...[idAt(NOW_MS + n * 60_000), 1, `guid-${n}`, NOW_MS + n * 60_000, 0, n + 1],
          ...['x', statusOf(n), 'push'],
        ]);
        await store.transaction(async (tx) => {
          await statements.insert(
            tx,
            'webhooks_deliveries',
            [...columns, 'status', 'status_code', 'event'],
            rows,
          );
        });
        const sinceMs = NOW_MS + 59 * 60_000 + 1;
        // Attempts 60 to 119: 60, 61, 70, 80, 90, 100, 110 and 119 failed. 57 of 60 durations are at most 117 ms.
        assert.deepEqual(await deliveries.figures(1, sinceMs, 1000), {
          ...{ count: 60, failedCount: 8, p95Ms: 117 },
        });
        assert.deepEqual(await deliveries.figures(1, sinceMs, 1), {
          ...{ count: 1, failedCount: 1, p95Ms: 120 },
        });
        const none = { count: 0, failedCount: 0, p95Ms: undefined };
        assert.deepEqual(await deliveries.figures(1, NOW_MS + 120 * 60_000, 1000), none);
        assert.deepEqual(await deliveries.figures(2, sinceMs, 1000), none);
      });
    });

    it('counts attempts by app and quarter of an hour, once each', async () => {
      await withStore(async (store) => {
        const queue = new QueueStore(store, 'node');
        const deliveries = new DeliveryStore(store);
        await queue.start(NOW_MS);
        const accept = async (appId: number, count: number) => {
          const events = Array.from({ length: count }, async () => await newEvent(appId));
          await queue.intake.accept(await Promise.all(events), NOW_MS);
          return await queue.claim([{ appId, limit: count }], NOW_MS);
        };
        const statuses = [200, 299, 302, 503, 0];
        const batch = (await accept(1, 5)).map((item, at) =>
          done(item, { status_code: statuses[at] ?? 0 }),
        );
        await queue.finish(batch, NOW_MS);
        // A repeated call stores no attempt twice.
        await queue.finish(batch, NOW_MS, true);
        const quarterMs = 15 * 60_000;
        const later = (await accept(1, 2)).map((item, at) =>
          done(item, { deliveredMs: NOW_MS + quarterMs - 1 + at }),
        );
        await queue.finish([...later, ...(await accept(2, 1)).map((item) => done(item))], NOW_MS);
        const counts = async (appIds: readonly number[], sinceMs = NOW_MS) =>
          (await deliveries.counts(appIds, sinceMs))
            .map(({ appId, bucketMs, succeededCount, failedCount }) =>
              [appId, (bucketMs - NOW_MS) / quarterMs, succeededCount, failedCount].join(' '),
            )
            .sort();
        assert.deepEqual(await counts([1, 2, 3]), ['1 0 3 3', '1 1 1 0', '2 0 1 0']);
        assert.deepEqual(await counts([1], NOW_MS + quarterMs), ['1 1 1 0']);
        assert.deepEqual(await counts([]), []);
        // Of all apps together. On PostgreSQL, a sum without a cast is a string.
        const totals = async (sinceMs: number) =>
          [...(await deliveries.totalCounts(sinceMs))].sort((a, b) => a.bucketMs - b.bucketMs);
        const second = { bucketMs: NOW_MS + quarterMs, succeededCount: 1, failedCount: 0 };
        assert.deepEqual(await totals(NOW_MS), [
          { bucketMs: NOW_MS, succeededCount: 4, failedCount: 3 },
          second,
        ]);
        assert.deepEqual(await totals(NOW_MS + quarterMs), [second]);
        assert.deepEqual(await totals(NOW_MS + 2 * quarterMs), []);
        // The bucket of 00:00 ends at 00:15.
        await deliveries.purge(NOW_MS + quarterMs - 1, 100);
        assert.equal((await counts([1, 2])).length, 3);
        await deliveries.purge(NOW_MS + quarterMs, 100);
        assert.deepEqual(await counts([1, 2]), ['1 1 1 0']);
      });
    });

    it('deletes records after their retention period, and nothing that is still needed', async () => {
      await withStore(async (store) => {
        const queue = new QueueStore(store, 'node');
        const deliveries = new DeliveryStore(store);
        await queue.start(NOW_MS);
        await queue.intake.accept(
          await Promise.all([newEvent(1), newEvent(1), newEvent(2)]),
          NOW_MS,
        );
        const items = await queue.claim([{ appId: 1, limit: 10 }], NOW_MS);
        await queue.finish([done(items[0] as QueueItem)], NOW_MS);
        const laterMs = NOW_MS + 10 * DAY_MS;
        await queue.finish([done(items[1] as QueueItem, { deliveredMs: laterMs })], laterMs);
        const [oldId, freshId] = await recordIds(store, items.slice(0, 2));
        while (await deliveries.purge(NOW_MS + DAY_MS, 1));
        assert.equal(await deliveries.get(1, oldId ?? 0), undefined);
        assert.equal((await deliveries.get(1, freshId ?? 0))?.id, freshId);
        const waiting = await queue.claim([{ appId: 2, limit: 10 }], laterMs);
        assert.ok(waiting[0]?.payload, 'what waits keeps its payload');
        await deliveries.purgePayloads(laterMs + DAY_MS, 0, 100);
        const kept = await deliveries.get(1, freshId ?? 0);
        assert.deepEqual([kept?.requestPayload, kept?.responseBody], [undefined, undefined]);
      });
    });
  });
}

webhookStoreContract('SQLite', onSqlite);
if (POSTGRES_URL === undefined) {
  it('webhook store on PostgreSQL', {
    skip: 'set PLINTH_TEST_POSTGRES_URL to a server on which databases may be created',
  });
} else {
  webhookStoreContract('PostgreSQL', onPostgres);

  describe('webhook store of several nodes', () => {
    it('shows records in the order of their ids, so that lists grow at their head', async () => {
      await onPostgres(async (store) => {
        const nodes = [new QueueStore(store, 'one'), new QueueStore(store, 'other')];
        const items: QueueItem[] = [];
        for (const node of nodes) {
          await node.start(NOW_MS);
          await node.intake.accept([await newEvent(1)], NOW_MS);
          items.push(...(await node.claim([{ appId: 1, limit: 1 }], NOW_MS)));
        }
        const shown: number[] = [];
        const finish = async (index: number): Promise<void> => {
          const [node, item] = [nodes[index], items[index]];
          assert.ok(node && item);
          await node.finish([done(item)], NOW_MS);
          shown.push(...(await recordIds(store, [item])));
        };
        let second: Promise<void> | undefined;
        const first = await store.transaction(async (tx) => {
          // At this point the first node has reserved its id and waits for the row lock of its
          // item.
          await sql`select id from webhooks_queue where id = ${items[0]?.id} for update`.execute(
            tx,
          );
          const begun = finish(0);
          await until(async () => (await countWaiting(store)) === 1);
          second = finish(1);
          await until(async () => shown.length > 0 || (await countWaiting(store)) === 2);
          return { begun };
        });
        await Promise.all([first.begun, second]);
        assert.deepEqual(
          shown,
          [...shown].sort((a, b) => a - b),
        );
      });
    });
  });
}

/** Returns the ids of the records of these items, in the same order. */
async function recordIds(store: RelationalStore, items: readonly QueueItem[]): Promise<number[]> {
  const ids: number[] = [];
  for (const { guid } of items) {
    const { rows } = await sql<{ id: number | string }>`select id from webhooks_deliveries
      where guid = ${guid}`.execute(store.reader());
    ids.push(...rows.map(({ id }) => Number(id)));
  }
  return ids;
}

async function countWaiting(store: RelationalStore): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(store.reader());
  return Number(rows[0]?.count);
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('it does not happen');
}
