import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '../clock/system-clock.js';
import { NodeFileSystem } from '../fs/node-file-system.js';
import { LocalLeases } from '../lease/local-leases.js';
import { createLogger } from '../log/logger.js';
import { openRelationalStore } from '../relational/sqlite/sqlite-store.js';
import { ManualClock } from '../testing/manual-clock.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { temporaryFolder } from '../testing/temporary-folder.js';
import { OUTBOX_MIGRATIONS, type OutboxTables } from './outbox-tables.js';
import { RelationalOutbox } from './relational-outbox.js';

const log = createLogger({ level: 'silent' });

it('delivers committed events in order, retries failures, and continues after a restart', async () => {
  const directory = await temporaryFolder();
  const clock = new SystemClock();
  const fileSystem = new NodeFileSystem();
  const store = await openRelationalStore({ path: join(directory, 'db'), clock, fileSystem });
  const random = new SeededRandom(1);
  const leases = new LocalLeases();
  const failures: number[] = [];
  const onHandlerFailure = ({ attempt }: { attempt: number }) => failures.push(attempt);
  const collect = async (count: number, failCount: number, payloads: readonly string[]) => {
    const outbox = new RelationalOutbox({
      ...{ store, clock, random, leases, log, onHandlerFailure },
      node: 'one',
    });
    const seen: unknown[] = [];
    let failuresLeft = failCount;
    const all = new Promise<void>((resolve) => {
      outbox.subscribe('one', ['wanted'], async ({ payload }) => {
        if (failuresLeft > 0) {
          failuresLeft -= 1;
          throw new Error('not yet');
        }
        seen.push(payload);
        if (seen.length === count) resolve();
      });
    });
    await outbox.start();
    for (const payload of payloads) {
      await store.transaction(async (tx) => {
        await outbox.publish(tx, { type: 'other', payload }, { type: 'wanted', payload });
      });
    }
    const undone = store.transaction(async (tx) => {
      await outbox.publish(tx, { type: 'wanted', payload: 'undone' });
      throw new Error('undo');
    });
    await assert.rejects(undone, { message: 'undo' });
    await all;
    await outbox.close();
    return seen;
  };
  assert.deepEqual(await collect(3, 2, ['a', 'b', 'c']), ['a', 'b', 'c']);
  assert.deepEqual(failures, [1, 2]);
  assert.deepEqual(await collect(1, 0, ['d']), ['d']);
  await store.close();
});

const HOUR_MS = 3_600_000;

/** An outbox with a stopped clock, and a function that counts its events. */
async function openStill(context: TestContext) {
  const directory = await temporaryFolder();
  const clock = new ManualClock();
  // The store has its own running clock; advancing it would time out its transactions.
  const store = await openRelationalStore({
    path: join(directory, 'db'),
    clock: new SystemClock(),
    fileSystem: new NodeFileSystem(),
  });
  const leftBehind: unknown[] = [];
  const outbox = new RelationalOutbox({
    store,
    clock,
    random: new SeededRandom(1),
    leases: new LocalLeases(),
    node: 'one',
    log,
    retentionMs: HOUR_MS,
    forgetAfterMs: 20 * HOUR_MS,
    onSubscriberLeftBehind: (left) => leftBehind.push(left),
    onHandlerFailure: ({ error }) => assert.fail(String(error)),
  });
  context.after(async () => {
    await outbox.close();
    await store.close();
  });
  const count = async (): Promise<number> => {
    const rows = store.reader<OutboxTables>().selectFrom('kernel_outbox').select('id');
    return (await rows.execute()).length;
  };
  return {
    store,
    clock,
    outbox,
    count,
    leftBehind,
    publish: async (type: string) =>
      await store.transaction(async (tx) => await outbox.publish(tx, { type, payload: null })),
    /** Advances the clock by a minute at a time until `isSo`, for at most a day. */
    async turnUntil(isSo: () => boolean | Promise<boolean>) {
      for (let minute = 0; minute < 24 * 60 && !(await isSo()); minute++) {
        await clock.advanceMs(60_000);
        await sleep(1); // The store is real and needs time.
      }
    },
  };
}

it('removes events that no subscriber takes', async (context) => {
  const { outbox, count, publish, turnUntil } = await openStill(context);
  const seen: string[] = [];
  outbox.subscribe('busy', ['often'], async ({ type }) => void seen.push(type));
  outbox.subscribe('idle', ['never'], async ({ type }) => void seen.push(type));
  await outbox.start();
  for (const type of ['often', 'other', 'often', 'other']) await publish(type);
  await turnUntil(async () => (await count()) === 0);
  assert.equal(await count(), 0);
  assert.deepEqual(seen, ['often', 'often']);
  // Later events are still delivered after events without a subscriber are removed.
  await publish('never');
  await turnUntil(() => seen.length === 3);
  assert.deepEqual(seen, ['often', 'often', 'never']);
});

it('removes old events without subscribers', async (context) => {
  const { outbox, clock, count, publish, turnUntil } = await openStill(context);
  await outbox.start();
  await publish('other');
  await clock.advanceMs(HOUR_MS / 2);
  assert.equal(await count(), 1);
  await turnUntil(async () => (await count()) === 0);
  assert.equal(await count(), 0);
});

it('keeps events for an inactive subscriber until it is forgotten', async (context) => {
  const { store, outbox, clock, count, publish, turnUntil, leftBehind } = await openStill(context);
  outbox.subscribe('here', ['often'], async () => {});
  await store.migrate('kernel_outbox', OUTBOX_MIGRATIONS);
  const startMs = clock.nowMs();
  await store.transaction<OutboxTables, void>(async (tx) => {
    // As left by an earlier version, which did not record the time.
    const row = { subscriber: 'gone', position: 0, seen_ms: 0 };
    await tx.insertInto('kernel_outbox_positions').values(row).execute();
  });
  await outbox.start();
  await publish('often');
  for (let minute = 0; minute < 19 * 60; minute++) await clock.advanceMs(60_000);
  assert.equal(await count(), 1);
  assert.deepEqual(leftBehind, []);
  await turnUntil(async () => (await count()) === 0);
  assert.equal(await count(), 0);
  assert.deepEqual(leftBehind, [{ subscriber: 'gone', lastSeenMs: startMs }]);
  // Events are kept for a running subscriber, even if it receives none.
  const positions = await store
    .reader<OutboxTables>()
    .selectFrom('kernel_outbox_positions')
    .selectAll()
    .where('subscriber', '=', 'here')
    .executeTakeFirstOrThrow();
  assert.ok(positions.seen_ms > startMs + 18 * HOUR_MS);
});

it('returns the age of the oldest undelivered event', async (context) => {
  const { clock, outbox, publish, turnUntil } = await openStill(context);
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const seen: string[] = [];
  outbox.subscribe('slow', ['wanted'], async ({ type }) => {
    await released;
    seen.push(type);
  });
  outbox.subscribe('idle', ['never'], async () => {});
  assert.deepEqual([...(await outbox.oldestWaitingMs())], []);
  await outbox.start();
  const ages = async () => Object.fromEntries(await outbox.oldestWaitingMs());
  assert.deepEqual(await ages(), { slow: 0, idle: 0 });
  await publish('wanted');
  await clock.advanceMs(20_000);
  await publish('wanted');
  await clock.advanceMs(5_000);
  assert.deepEqual(await ages(), { slow: 25_000, idle: 0 });
  release();
  await turnUntil(async () => seen.length === 2 && (await ages())['slow'] === 0);
  assert.deepEqual(await ages(), { slow: 0, idle: 0 });
});

it('does not miss an event that arrives during its last check', async (context) => {
  const { outbox, publish, store } = await openStill(context);
  // The clock does not advance, so a relay that sleeps never wakes up.
  const handled = new Promise<void>((resolve) => {
    outbox.subscribe('one', ['wanted'], async () => resolve());
  });
  await outbox.prepare(); // uses other reads
  let hasPublished = false;
  const open = store.reader.bind(store);
  context.mock.method(store, 'reader', () => {
    const executor = open().getExecutor();
    const provideConnection: typeof executor.provideConnection = async (use) => {
      const shown = await executor.provideConnection(use);
      // After the first check, and before its result is used.
      if (!hasPublished) await publish('wanted');
      hasPublished = true;
      return shown;
    };
    return { getExecutor: () => ({ provideConnection }) };
  });
  await outbox.start();
  await handled;
});
