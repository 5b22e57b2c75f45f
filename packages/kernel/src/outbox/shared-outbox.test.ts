import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '../clock/system-clock.js';
import { LocalLeases } from '../lease/local-leases.js';
import { createLogger } from '../log/logger.js';
import { openPostgresStore } from '../relational/postgres/open-postgres-store.js';
import type { SharedStore } from '../relational/relational-store.js';
import { POSTGRES_URL, PostgresDatabase } from '../testing/postgres-database.js';
import { SeededRandom } from '../testing/seeded-random.js';
import type { OutboxEvent } from './outbox.js';
import type { OutboxTables } from './outbox-tables.js';
import { RelationalOutbox } from './relational-outbox.js';

/** Disables polling within a test. */
const NEVER_MS = 600_000;

interface Node {
  readonly store: SharedStore;
  readonly outbox: RelationalOutbox;
  publish(payload: unknown): Promise<void>;
}

/** Nodes on one database, each with a subscriber of the same name. The first one is started first. */
async function openNodes(
  context: TestContext,
  handlers: readonly ((event: OutboxEvent) => Promise<void>)[],
  pollMs?: number,
): Promise<readonly Node[]> {
  const database = await PostgresDatabase.create();
  const nodes: Node[] = [];
  context.after(async () => {
    for (const { outbox } of nodes) await outbox.close();
    for (const { store } of nodes) await store.close();
    await database[Symbol.asyncDispose]();
  });
  for (const [index, handle] of handlers.entries()) {
    const clock = new SystemClock();
    const random = new SeededRandom(index + 1);
    const { url } = database;
    const store = await openPostgresStore({ url, clock, random, onConnectionLost: () => {} });
    const outbox = new RelationalOutbox({
      ...{ store, clock, random, leases: new LocalLeases(), node: `node ${index}` },
      ...(pollMs !== undefined && { pollMs }),
      log: createLogger({ level: 'silent' }),
      onHandlerFailure: () => {},
    });
    outbox.subscribe('one', ['wanted'], handle);
    const publish = async (payload: unknown) =>
      await store.transaction(async (tx) => await outbox.publish(tx, { type: 'wanted', payload }));
    nodes.push({ store, outbox, publish });
    await outbox.start();
  }
  return nodes;
}

async function until(isSo: () => boolean, limitMs = 5000): Promise<void> {
  const endMs = Date.now() + limitMs;
  while (!isSo()) {
    assert.ok(Date.now() < endMs, 'the event did not arrive');
    await sleep(5);
  }
}

if (POSTGRES_URL === undefined) {
  it('an outbox that nodes share', {
    skip: 'set PLINTH_TEST_POSTGRES_URL to a server on which databases may be created',
  });
} else {
  describe('an outbox that nodes share', () => {
    it('delivers each event to only one node', async (context) => {
      const seen: unknown[] = [];
      const handle = async ({ payload }: OutboxEvent) => void seen.push(payload);
      const nodes = await openNodes(context, [handle, handle, handle], NEVER_MS);
      const published: unknown[] = [];
      for (let index = 0; index < 60; index++) {
        await nodes[index % 3]?.publish(index);
        published.push(index);
      }
      await until(() => seen.length >= 60);
      await sleep(200);
      assert.deepEqual(seen, published);
    });

    it('delivers an event that arrives after the last check of another node', async (context) => {
      const seen: string[] = [];
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      context.after(() => release());
      const nodes = await openNodes(
        context,
        [
          async ({ payload }) => {
            seen.push(`0 ${payload}`);
            await released;
          },
          async ({ payload }) => void seen.push(`1 ${payload}`),
        ],
        NEVER_MS,
      );
      await nodes[0]?.publish('first');
      await until(() => seen.length === 1);
      // The other node sees that the subscriber is busy, and sleeps.
      await nodes[1]?.publish('second');
      await sleep(200);
      assert.deepEqual(seen, ['0 first']);
      release();
      await until(() => seen.length === 2);
      assert.deepEqual(seen, ['0 first', '0 second']);
    });

    it('takes over from a stopped node after its lease has expired', async (context) => {
      const seen: unknown[] = [];
      const handle = async ({ payload }: OutboxEvent) => void seen.push(payload);
      const [node] = await openNodes(context, [handle]);
      const untilMs = Date.now() + 5000;
      await node?.store.transaction<OutboxTables, void>(async (tx) => {
        const turn = { holder: 'gone', held_until_ms: untilMs };
        await tx.updateTable('kernel_outbox_positions').set(turn).execute();
      });
      await node?.publish('left');
      await until(() => seen.length > 0, 12_000);
      assert.ok(Date.now() >= untilMs - 50, 'the lease belonged to another node');
      assert.ok(Date.now() < untilMs + 4000);
      assert.deepEqual(seen, ['left']);
    });

    it('stops delivery on a node that slept past the end of its lease', async (context) => {
      const seen: string[] = [];
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      context.after(() => release());
      const nodes = await openNodes(context, [
        async ({ payload }) => {
          seen.push(`0 ${payload}`);
          if (seen.length === 1) await released;
        },
        async ({ payload }) => void seen.push(`1 ${payload}`),
      ]);
      await nodes[0]?.store.transaction(async (tx) => {
        const events = ['a', 'b'].map((payload) => ({ type: 'wanted', payload }));
        await nodes[0]?.outbox.publish(tx, ...events);
      });
      await until(() => seen.length === 3, 12_000);
      assert.deepEqual(seen, ['0 a', '1 a', '1 b']);
      release();
      await nodes[0]?.publish('c');
      await until(() => seen.length === 4);
      assert.match(seen[3] ?? '', /^[01] c$/);
    });
  });
}
