// Regression test: after every start, the first query read each file of its table completely. The
// test counts reads of the object store.
import assert from 'node:assert/strict';
import { open, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const DAY_NS = 86_400_000_000_000;
const DAYS = [1, 2, 3];
const FLAGS = { 'tsdb-column-cache-bytes': '0' };

/** A closed folder with one segment per day, of one series. */
async function madeBefore(context: TestContext) {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  let running: TestNode | undefined;
  const start = async (flags = {}): Promise<TestNode> => {
    const clock = new ManualClock();
    running = await openTestNode(dataDir, { clock, faults, flags: { ...FLAGS, ...flags } });
    return running;
  };
  const stop = async (): Promise<void> => {
    await running?.close();
    running = undefined;
  };
  context.after(() => stop());
  const node = await start();
  for (const day of DAYS) await writeLines(node, [`m,host=a v=${day}i ${day * DAY_NS}`]);
  const names = await flushNode(node);
  assert.equal(names.length, DAYS.length + 1, 'a segment for each day, and a file of series');
  await stop();
  return {
    paths: names.map((name) => join(dataDir, 'objects', name)),
    ...{ start, stop },
    /** Runs `work` and returns the number of file reads. */
    reads: async (work: () => Promise<unknown>): Promise<number> => {
      const before = faults.counts.get('object.get') ?? 0;
      await work();
      return (faults.counts.get('object.get') ?? 0) - before;
    },
  };
}

const sum = async (node: TestNode, where = ''): Promise<string | undefined> =>
  (await query(node, `SELECT sum(v) FROM m${where}`))[1];

/**
 * Changes the modification time, so that the file looks modified although its bytes are the same.
 */
async function touch(path: string): Promise<void> {
  const { mtimeMs } = await stat(path);
  await utimes(path, new Date(), new Date(mtimeMs - 60_000));
}

/** Flips a byte; returns a function that restores the modification time. */
async function flipByte(
  path: string,
  at: (sizeBytes: number) => number,
): Promise<() => Promise<void>> {
  const { atime, mtime, mtimeMs, size } = await stat(path);
  const file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, at(size));
  await file.write(Buffer.of((byte[0] ?? 0) ^ 1), 0, 1, at(size));
  await file.close();
  await utimes(path, new Date(), new Date(mtime.getTime() + 60_000));
  // The middle of its millisecond, because the start may be rounded down to the previous one.
  return () => utimes(path, atime, (Math.floor(mtimeMs) + 0.5) / 1000);
}

it('reads no complete segment for the first query if nothing has changed', async (context) => {
  const { start, reads } = await madeBefore(context);
  const node = await start();
  assert.equal(await reads(async () => assert.equal(await sum(node), '6')), 0);
});

it('reads modified segments once, and remembers the result for the next start', async (context) => {
  const { paths, start, stop, reads } = await madeBefore(context);
  for (const path of paths) await touch(path);
  const first = await start();
  assert.equal(await reads(async () => assert.equal(await sum(first), '6')), DAYS.length);
  await stop();
  const second = await start();
  assert.equal(await reads(async () => assert.equal(await sum(second), '6')), 0);
});

it('verifies only the files that a narrow query reads', async (context) => {
  const { paths, start, reads } = await madeBefore(context);
  for (const path of paths) await touch(path);
  const node = await start();
  const narrow = await reads(async () =>
    assert.equal(await sum(node, ` WHERE time = '1970-01-03T00:00:00Z'`), '2'),
  );
  assert.equal(narrow, 1);
});

it('finds a changed byte if the modification time changed, or in a full verification', async (context) => {
  const { paths, start, stop } = await madeBefore(context);
  const [first = ''] = paths;
  const restoreTime = await flipByte(first, (size) => size >> 1);
  const node = await start();
  await assert.rejects(sum(node), /is corrupt \(its checksum does not match\)/);
  await stop();
  await restoreTime();
  const repaired = await start({ 'tsdb-repair': 'true' });
  assert.notEqual(await sum(repaired), '6');
  assert.equal((await readdir(join(first, '..'))).includes(first.split('/').at(-1) ?? ''), false);
});

it('names the damaged file from the second query on if the first failed in DuckDB', async (context) => {
  const { paths, start } = await madeBefore(context);
  // The length of the footer, in the last eight bytes.
  const restoreTime = await flipByte(paths[0] ?? '', (size) => size - 6);
  await restoreTime();
  const node = await start();
  await assert.rejects(sum(node), /query execution failed|could not be read/);
  await assert.rejects(sum(node), /is corrupt \(its checksum does not match\)/);
});
