// Regression test: 5,000 tables of ten rows became 10,000 files at each flush by age, which took
// minutes of disk time.
import assert from 'node:assert/strict';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

async function open(context: TestContext, dataDir: string, clock?: ManualClock): Promise<TestNode> {
  const node = await openTestNode(dataDir, {
    clock: clock ?? new ManualClock(),
    flushSmallTables: 2,
  });
  context.after(() => node.close());
  return node;
}

/** Tables with files. */
async function inFiles(node: TestNode): Promise<readonly string[]> {
  const rows = await query(node, 'SELECT table_name FROM system.parquet_files ORDER BY table_name');
  return rows.slice(1);
}

/** Advances the clock until the rows reach the flush age. */
async function untilFlushed(node: TestNode, clock: ManualClock): Promise<void> {
  const before = await inFiles(node);
  await clock.advanceMs(601_000);
  for (let tries = 0; (await inFiles(node)).length === before.length; tries++) {
    assert.ok(tries < 600, 'nothing was flushed');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await node.engine.background.segmentCommits.determineOutcome();
}

/** Row count and sum of each table. */
async function contents(node: TestNode, tables: string): Promise<string> {
  const responses: string[] = [];
  for (const table of tables) {
    const [, row] = await query(node, `SELECT count(v), sum(v) FROM ${table}`);
    responses.push(row ?? '');
  }
  return responses.join();
}

const logFiles = (dataDir: string): Promise<string[]> => readdir(join(dataDir, 'tsdb-log'));

it('writes a few small tables at a time, oldest rows first, without loss or duplicates', async (context) => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const node = await open(context, dataDir, clock);
  for (const table of 'edcba') await writeLines(node, [`${table},host=a v=1i 1`]);
  const assertAll = async (expected: string): Promise<void> => {
    assert.equal(await contents(node, 'abcde'), expected);
    // A process that is killed here has them as well.
    const killed = await temporaryFolder();
    await cp(dataDir, killed, { recursive: true });
    const next = await open(context, killed);
    assert.equal(await contents(next, 'abcde'), expected);
    await flushEngine(next.engine);
    assert.equal(await contents(next, 'abcde'), expected);
    assert.equal((await logFiles(killed)).length, 1);
  };
  await untilFlushed(node, clock);
  assert.deepEqual(await inFiles(node), ['d', 'e']);
  await assertAll('1 | 1,1 | 1,1 | 1,1 | 1,1 | 1');
  // Repeats a point of a table in files, of one with unflushed rows, and of one with both.
  await writeLines(node, [
    'e,host=a v=2i 2',
    'a,host=b v=3i 1',
    'd,host=a v=5i 1',
    'a,host=a v=7i 1',
  ]);
  await assertAll('2 | 10,1 | 1,1 | 1,1 | 5,2 | 3');
  await untilFlushed(node, clock);
  assert.deepEqual(await inFiles(node), ['b', 'c', 'd', 'e']);
  await assertAll('2 | 10,1 | 1,1 | 1,1 | 5,2 | 3');
  await untilFlushed(node, clock);
  assert.ok((await inFiles(node)).includes('a'));
  await assertAll('2 | 10,1 | 1,1 | 1,1 | 5,2 | 3');
});

it('writes a large table as well, and tables with deletions', async (context) => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const node = await open(context, dataDir, clock);
  for (const table of 'abcde') await writeLines(node, [`${table},host=a v=1i 1`]);
  await writeLines(
    node,
    Array.from({ length: 4000 }, (_, i) => `large,host=a v=1i ${i + 1}`),
  );
  await node.engine.deleteRows({
    database: TEST_DATABASE,
    tables: ['e'],
    anyOf: [[]],
    minTimeNs: 1n,
    maxTimeNs: 1n,
  });
  await untilFlushed(node, clock);
  assert.deepEqual(await inFiles(node), ['a', 'b', 'large']);
  await node.engine.background.compactor.compactWhenDue();
  assert.equal(node.engine.waitingDeletionCount, 0);
  const killed = await temporaryFolder();
  await cp(dataDir, killed, { recursive: true });
  const next = await open(context, killed);
  assert.equal(await contents(next, 'abcde'), '1 | 1,1 | 1,1 | 1,1 | 1,0 | NULL');
  assert.deepEqual(await query(next, 'SELECT count(v) FROM large'), ['count(large.v)', '4000']);
});

it('removes the log when its last rows are in files', async (context) => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const node = await open(context, dataDir, clock);
  for (const table of 'abcde') await writeLines(node, [`${table},host=a v=1i 1`]);
  const counts: number[] = [];
  for (let flush = 0; flush < 2; flush++) {
    await untilFlushed(node, clock);
    counts.push((await logFiles(dataDir)).length);
  }
  assert.deepEqual(counts, [2, 3]);
  await untilFlushed(node, clock);
  // Its log files are removed after a flush is committed.
  for (let tries = 0; (await logFiles(dataDir)).length > 1; tries++) {
    assert.ok(tries < 600, 'the log stays');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
