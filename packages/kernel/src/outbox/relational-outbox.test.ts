import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { SystemClock } from '../clock/system-clock.js';
import { NodeFileSystem } from '../fs/node-file-system.js';
import { LocalLeases } from '../lease/local-leases.js';
import { openRelationalStore } from '../relational/sqlite-store.js';
import { SeededRandom } from '../testing/seeded-random.js';
import { RelationalOutbox } from './relational-outbox.js';

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
    const outbox = new RelationalOutbox({ store, clock, random, leases, onHandlerFailure });
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
        await outbox.publish(tx, { type: 'other', payload });
        await outbox.publish(tx, { type: 'wanted', payload });
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
