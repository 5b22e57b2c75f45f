// Regression test: stopping a node with thousands of tables exceeded the time limit and was killed;
// with hundreds it wrote two files per table.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import type { FolderObjectStore } from '@plinth/kernel';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const SLOW_DISK_MS = 6000;

const parquetFiles = async (dataDir: string): Promise<number> => {
  const names = await readdir(join(dataDir, 'objects'), { recursive: true });
  return names.filter((name) => name.endsWith('.parquet')).length;
};

/** About 3 MB of log records. */
const largeRows = (table: string): string[] =>
  Array.from({ length: 1000 }, (_, i) => `${table},host=a v=1i,s="${'x'.repeat(3000)}" ${i + 1}`);

it('writes no files of small tables at shutdown, and has all rows after restarts', async () => {
  const dataDir = await temporaryFolder();
  const node = await openTestNode(dataDir, { clock: new ManualClock() });
  await writeLines(
    node,
    Array.from({ length: 40 }, (_, i) => `m${i},host=a v=${i}i 1`),
  );
  await node.close();
  for (const added of [1, 2]) {
    assert.equal(await parquetFiles(dataDir), 0);
    const next = await openTestNode(dataDir, { clock: new ManualClock() });
    assert.equal((await query(next, 'SELECT v FROM m39'))[1], '39');
    assert.equal((await query(next, 'SELECT count(v) FROM m0'))[1], String(added));
    await writeLines(next, [`m0,host=a v=1i ${added + 1}`]);
    await next.close();
  }
});

it('writes files at shutdown once the log has many files', async () => {
  const dataDir = await temporaryFolder();
  for (let sec = 1; sec <= 33; sec++) {
    const node = await openTestNode(dataDir, { clock: new ManualClock() });
    assert.equal(await parquetFiles(dataDir), 0);
    await writeLines(node, [`m,host=a v=1i ${sec}`]);
    await node.close();
  }
  assert.equal(await parquetFiles(dataDir), 2);
  const node = await openTestNode(dataDir, { clock: new ManualClock() });
  assert.equal((await query(node, 'SELECT count(v) FROM m'))[1], '33');
  await node.close();
});

it('leaves the rest in the log on a slow disk, without duplicate rows afterwards', async () => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  let adoptedCount = 0;
  const slow = (objects: FolderObjectStore): FolderObjectStore => ({
    put: (name, parts) => objects.put(name, parts),
    get: (name, range) => objects.get(name, range),
    getRanges: (name, ranges) => objects.getRanges(name, ranges),
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
  const tables = ['a', 'b', 'c'];
  for (const table of tables) await writeLines(node, largeRows(table));
  await node.close();
  // Only the segment and series of the first table were started.
  assert.equal(adoptedCount, 2);
  const next = await openTestNode(dataDir, { clock: new ManualClock() });
  assert.equal((await query(next, 'SELECT * FROM system.parquet_files')).length, 2);
  for (const table of tables)
    assert.equal((await query(next, `SELECT count(v), sum(v) FROM ${table}`))[1], '1000 | 1000');
  await next.close();
});
