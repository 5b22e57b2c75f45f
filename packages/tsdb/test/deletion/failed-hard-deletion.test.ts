// Source: docs/adr/0082-file-commits.md, hard deletion: a failed one is retried, and nothing is
// removed until it succeeds.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

const SEGMENTS_PER_MERGE = 8;

it('starts after a hard deletion failed during a merge of the table', async (context) => {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const clock = new ManualClock();
  let adoptCount = 0;
  let onAdopt = async (): Promise<void> => undefined;
  const start = () =>
    openTestNode(dataDir, {
      ...{ clock, faults },
      before: (objects) => ({
        put: (name, parts) => objects.put(name, parts),
        get: (name, range) => objects.get(name, range),
        getRanges: (name, ranges) => objects.getRanges(name, ranges),
        list: (prefix) => objects.list(prefix),
        delete: (name) => objects.delete(name),
        localPath: (name) => objects.localPath(name),
        async adopt(name, path) {
          await onAdopt();
          await objects.adopt(name, path);
        },
      }),
    });
  let node = await start();
  context.after(() => node.close());
  await writeLines(node, ['other v=1i 1']);
  for (let i = 1; i <= SEGMENTS_PER_MERGE; i++) {
    await writeLines(node, [`m v=${i}i ${i}`]);
    if (i < SEGMENTS_PER_MERGE) await flushEngine(node.engine);
  }
  const hardDelete = { kind: 'now' } as const;
  await node.catalog.deletions.deleteTable({ database: TEST_DATABASE, table: 'm', hardDelete });
  onAdopt = async () => {
    if (++adoptCount !== 2) return; // the flush's own transaction comes first
    faults.fail({ kind: 'relational.transaction' });
    const before = faults.counts.get('relational.transaction') ?? 0;
    await clock.advanceMs(1000);
    assert.equal(
      faults.counts.get('relational.transaction'),
      before + 1,
      'the deletion has failed',
    );
  };
  await flushEngine(node.engine);
  assert.equal(adoptCount, 2, 'there was a merge');
  // Files are removed in the background, the files of the merge first.
  while ((faults.counts.get('object.delete') ?? 0) < SEGMENTS_PER_MERGE) await sleep(5);
  await sleep(100);
  faults.fail({ kind: '*', count: Number.POSITIVE_INFINITY });
  await node.close().catch(() => undefined); // simulates a kill
  faults.heal();
  node = await start();
  assert.deepEqual((await query(node, 'SELECT v FROM other')).slice(1), ['1']);
});
