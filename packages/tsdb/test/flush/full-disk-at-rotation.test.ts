// Source: docs/formats/commit-log.md. A flush starts a new log file; on a full disk it continues
// without one.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

/** A folder with a log that can fail; the last started node stops with the test. */
async function openFolder(context: TestContext) {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const clock = new ManualClock();
  let node: TestNode | undefined;
  context.after(() => node?.close());
  const start = async (): Promise<TestNode> => {
    node = await openTestNode(dataDir, { clock, faults });
    return node;
  };
  return { dataDir, faults, clock, start };
}

it('restarts and accepts writes after a flush that left no log file', async (context) => {
  const disk = await openFolder(context);
  const { dataDir, faults } = disk;
  let node = await disk.start();
  for (let i = 1; i <= 3; i++) {
    await writeLines(node, [`m v=${i}i ${i}`]);
    if (i === 3)
      faults.fail({ kind: 'log.open', count: Number.POSITIVE_INFINITY, error: noSpace() });
    await flushEngine(node.engine);
  }
  await node.close();
  assert.deepEqual(
    (await readdir(join(dataDir, 'tsdb-log'))).filter((name) => name.endsWith('.log')),
    [],
  );
  faults.heal();
  node = await disk.start();
  await writeLines(node, ['m v=4i 4']);
  // Simulates a kill: the row is only in the log.
  faults.fail({ kind: '*', count: Number.POSITIVE_INFINITY });
  await node.close().catch(() => undefined);
  faults.heal();
  node = await disk.start();
  assert.deepEqual((await query(node, 'SELECT count(v), sum(v) FROM m')).slice(1), ['4 | 10']);
});

it('flushes when the log file cannot be ended, and accepts writes once space is free', async (context) => {
  const disk = await openFolder(context);
  const { faults, clock } = disk;
  let node = await disk.start();
  await writeLines(node, ['m v=1i 1']);
  faults.fail({ kind: 'log.truncate', error: noSpace() });
  await flushEngine(node.engine);
  assert.match(node.engine.obstacle ?? '', /server disk is full/);
  for (let i = 0; i < 1000 && node.engine.obstacle !== undefined; i++) {
    await clock.advanceMs(1000);
    await setTimeout(1); // the log creates its file in the meantime
  }
  await writeLines(node, ['m v=2i 2']);
  await node.close();
  node = await disk.start();
  assert.deepEqual((await query(node, 'SELECT count(v), sum(v) FROM m')).slice(1), ['2 | 3']);
});

const noSpace = (): Error => Object.assign(new Error('no space left'), { code: 'ENOSPC' });
