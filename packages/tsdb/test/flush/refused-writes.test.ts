// The tombstones of rejected writes are not stored, so removing them must not start an empty
// transaction.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

it('drops a rejected write without a catalog transaction', async (context) => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const faults = new CallFaults();
  const node = await openTestNode(dataDir, { clock, faults });
  context.after(() => node.close());
  await writeLines(node, ['m,host=a v=1i 1']);
  const noRoom = Object.assign(new Error('no room'), { code: 'ENOSPC' });
  faults.fail({ kind: 'log.write', error: noRoom, count: Number.POSITIVE_INFINITY });
  await assert.rejects(writeLines(node, ['m,host=a v=2i 2']), { kind: 'disk_full' });
  faults.heal();
  // The log checks for free space every second.
  while (node.engine.obstacle !== undefined) {
    await clock.advanceMs(1000);
    await sleep(5);
  }
  await writeLines(node, ['m,host=a v=4i 3']);
  const before = faults.counts.get('relational.transaction') ?? 0;
  await flushEngine(node.engine);
  assert.equal((faults.counts.get('relational.transaction') ?? 0) - before, 1, 'that of the flush');
  assert.equal((await query(node, 'SELECT sum(v) FROM m'))[1], '5');
});
