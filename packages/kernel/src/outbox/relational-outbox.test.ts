import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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
import { OUTBOX_MIGRATIONS, type OutboxTables } from './outbox-tables.js';
import { RelationalOutbox } from './relational-outbox.js';

const log = createLogger({ level: 'silent' });

it('hands on committed events in order, repeats what failed, and continues after a restart', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'plinth-outbox-'));
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
  await rm(directory, { recursive: true });
});

const HOUR_MS = 3_600_000;

/** An outbox over a clock that stands still, and a look at how many events it holds. */
async function openStill(context: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'plinth-outbox-'));
  const clock = new ManualClock();
  // The store's own clock goes on: turning it would time its transactions out.
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
    await rm(directory, { recursive: true });
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
    /** EventLoopYielder the clock a minute at a time until `isSo`, for a day at most. */
    async turnUntil(isSo: () => boolean | Promise<boolean>) {
      for (let minute = 0; minute < 24 * 60 && !(await isSo()); minute++) {
        await clock.advanceMs(60_000);
        await sleep(1); // The store is a real one and has its own pace.
      }
    },
  };
}

it('forgets what no subscriber takes, however long none comes that one does', async (context) => {
  const { outbox, count, publish, turnUntil } = await openStill(context);
  const seen: string[] = [];
  outbox.subscribe('busy', ['often'], async ({ type }) => void seen.push(type));
  outbox.subscribe('idle', ['never'], async ({ type }) => void seen.push(type));
  await outbox.start();
  for (const type of ['often', 'other', 'often', 'other']) await publish(type);
  await turnUntil(async () => (await count()) === 0);
  assert.equal(await count(), 0);
  assert.deepEqual(seen, ['often', 'often']);
  // Passing over others has skipped nothing that comes later.
  await publish('never');
  await turnUntil(() => seen.length === 3);
  assert.deepEqual(seen, ['often', 'often', 'never']);
});

it('keeps nothing for ever where nobody has subscribed', async (context) => {
  const { outbox, clock, count, publish, turnUntil } = await openStill(context);
  await outbox.start();
  await publish('other');
  await clock.advanceMs(HOUR_MS / 2);
  assert.equal(await count(), 1);
  await turnUntil(async () => (await count()) === 0);
  assert.equal(await count(), 0);
});

it('keeps events for a subscriber that no longer runs for as long as it may come back', async (context) => {
  const { store, outbox, clock, count, publish, turnUntil, leftBehind } = await openStill(context);
  outbox.subscribe('here', ['often'], async () => {});
  await store.migrate('kernel_outbox', OUTBOX_MIGRATIONS);
  const startMs = clock.nowMs();
  await store.transaction<OutboxTables, void>(async (tx) => {
    // As an earlier start left it, of a version that did not note when.
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
  // Who runs is waited for, however long it takes none.
  const positions = await store
    .reader<OutboxTables>()
    .selectFrom('kernel_outbox_positions')
    .selectAll()
    .where('subscriber', '=', 'here')
    .executeTakeFirstOrThrow();
  assert.ok(positions.seen_ms > startMs + 18 * HOUR_MS);
});

it('says how long the oldest event has waited that a subscriber has not had', async (context) => {
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

it('does not sleep over an event that comes while it looks for the last time', async (context) => {
  const { outbox, publish, store } = await openStill(context);
  // The clock stands still, so whoever sleeps once sleeps for ever.
  const handled = new Promise<void>((resolve) => {
    outbox.subscribe('one', ['wanted'], async () => resolve());
  });
  await outbox.prepare(); // what reads in another way
  let hasPublished = false;
  const open = store.reader.bind(store);
  context.mock.method(store, 'reader', () => {
    const executor = open().getExecutor();
    const provideConnection: typeof executor.provideConnection = async (use) => {
      const shown = await executor.provideConnection(use);
      // Behind the first look, and before anybody has drawn conclusions from it.
      if (!hasPublished) await publish('wanted');
      hasPublished = true;
      return shown;
    };
    return { getExecutor: () => ({ provideConnection }) };
  });
  await outbox.start();
  await handled;
});
