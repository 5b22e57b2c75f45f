// A stop of a node with thousands of tables took all of the time that a stop may take, and was ended hard.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import type { ObjectStore } from '@plinth/kernel';
import { CallFaults, ManualClock } from '@plinth/kernel/testing';
import { openTestNode } from '../testing/open-test-node.js';
import { ask, writeLines } from '../testing/write-and-ask.js';

const SLOW_DISK_MS = 6000;

async function folder(context: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'plinth-last-flush-'));
  context.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

it('begins no flush of many tables when it ends, and has all rows after the next start', async (context) => {
  const dataDir = await folder(context);
  const faults = new CallFaults();
  const node = await openTestNode(dataDir, { faults, clock: new ManualClock() });
  const lines = Array.from({ length: 501 }, (_, i) => `m${i},host=a v=${i}i 1`);
  await writeLines(node, lines);
  await node.close();
  assert.equal(faults.counts.get('object.adopt') ?? 0, 0);
  const next = await openTestNode(dataDir, { clock: new ManualClock() });
  assert.equal((await ask(next, 'SELECT v FROM m500'))[1], '500');
  assert.equal((await ask(next, 'SELECT count(v) FROM m0'))[1], '1');
  await next.close();
});

it('leaves the rest to the log when the disk is slow, and has no row twice after it', async (context) => {
  const dataDir = await folder(context);
  const clock = new ManualClock();
  let adoptedCount = 0;
  const slow = (objects: ObjectStore): ObjectStore => ({
    put: (name, parts) => objects.put(name, parts),
    get: (name, range) => objects.get(name, range),
    list: (prefix) => objects.list(prefix),
    delete: (name) => objects.delete(name),
    localPath: (name) => objects.localPath(name),
    async adopt(name, path) {
      adoptedCount++;
      await objects.adopt(name, path);
      await clock.advanceMs(SLOW_DISK_MS);
    },
  });
  const node = await openTestNode(dataDir, { clock, before: slow });
  await writeLines(node, ['a,host=a v=1i 1', 'b,host=a v=2i 1', 'c,host=a v=3i 1']);
  await node.close();
  // Segment and series of the first table were begun.
  assert.equal(adoptedCount, 2);
  const next = await openTestNode(dataDir, { clock: new ManualClock() });
  for (const [table, sum] of Object.entries({ a: 1, b: 2, c: 3 })) {
    const answer = await ask(next, `SELECT count(v), sum(v) FROM ${table}`);
    assert.equal(answer[1], `1 | ${sum}`);
  }
  await next.close();
});
