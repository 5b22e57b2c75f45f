import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { SystemClock } from '../../clock/system-clock.js';
import { NodeFileSystem } from '../../fs/node-file-system.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { relationalStoreConformance } from '../../testing/relational-store-conformance.js';
import { temporaryFolder } from '../../testing/temporary-folder.js';
import { openRelationalStore, type RelationalStoreOptions } from './sqlite-store.js';

const open = async (options: Partial<RelationalStoreOptions> = {}) => {
  const directory = await temporaryFolder();
  const fileSystem = new NodeFileSystem();
  const path = join(directory, 'plinth.db');
  return await openRelationalStore({ path, clock: new SystemClock(), fileSystem, ...options });
};

relationalStoreConformance('SQLite', open);

it('rolls back a transaction that takes too long, and runs the next', async () => {
  const clock = new ManualClock();
  const store = await open({ clock, maxTransactionMs: 5000 });
  const endless = store.transaction(async () => await new Promise<never>(() => {}));
  const slow = store.transaction(async () => {
    await clock.sleep(20_000);
  });
  const next = store.transaction(async () => 'next');
  endless.catch(() => {});
  let isOver = false;
  const over = assert.rejects(slow, { kind: 'transaction_timed_out' }).then(() => {
    isOver = true;
  });
  // The worker thread runs in real time, so the clock is advanced until the thread has caught up.
  while (!isOver) await clock.advanceMs(1000);
  await over;
  assert.equal(await next, 'next');
  await store.close();
});

it('rejects transactions when too many are waiting', async () => {
  const store = await open({ maxWaitingCount: 3 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6 }, async () => await store.transaction(async () => 1)),
  );
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  assert.equal(refused.length, 2);
  await store.close();
});
