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

/** Nobody looks by itself within a test. */
const NEVER_MS = 600_000;

interface Node {
  readonly store: SharedStore;
  readonly outbox: RelationalOutbox;
  publish(payload: unknown): Promise<void>;
}

/** Nodes on one database, each with a subscriber of the same name; the first one is started first. */
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
    assert.ok(Date.now() < endMs, 'it does not come');
    await sleep(5);
  }
}

if (POSTGRES_URL === undefined) {
  it('an outbox that nodes share', {
    skip: 'set PLINTH_TEST_POSTGRES_URL to a server on which databases may be created',
  });
} else {
  describe('an outbox that nodes share', () => {
    it('each node handled the events of all', async (context) => {
      const seen: unknown[] = [];
      const handle = async ({ payload }: OutboxEvent) => void seen.push(payload);
      const nodes = await openNodes(context, [handle, handle, handle], NEVER_MS);
      const published: unknown[] = [];
      for (let index = 0; index < 60; index++) {
        await nodes[index % 3]?.publish(index);
        published.push(index);
      }
      await until(() => seen.length >= 60);
      await sleep(300);
      assert.deepEqual(seen, published);
    });

    it('an event waited for the next look of a node when it came behind the last one of another', async (context) => {
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
      // The other node sees that somebody is at it, and sleeps.
      await nodes[1]?.publish('second');
      await sleep(300);
      assert.deepEqual(seen, ['0 first']);
      release();
      await until(() => seen.length === 2);
      assert.deepEqual(seen, ['0 first', '0 second']);
    });

    it('goes on where a node ended that had its turn, and not before it must have', async (context) => {
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
      assert.ok(Date.now() >= untilMs - 50, 'the turn was another node');
      assert.ok(Date.now() < untilMs + 4000);
      assert.deepEqual(seen, ['left']);
    });

    it('a node that slept through the end of its turn goes on with nothing of it', async (context) => {
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
