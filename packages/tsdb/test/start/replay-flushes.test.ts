// Source: docs/DURABILITY.md, "Recovery": rows are flushed during replay if the log exceeds the available memory.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

/** A flush is due at a quarter of the limit. */
const LIMIT_BYTES = 1024 * 1024;
const FLUSH_BYTES = LIMIT_BYTES / 4;
const SMALL = {
  'tsdb-buffer-flush-bytes': String(64 * 1024),
  'tsdb-buffer-limit-bytes': String(LIMIT_BYTES),
};
const ROWS_PER_WRITE = 250;
const PADDING = 'x'.repeat(500);
const COUNT = 'SELECT count(*), sum(v) FROM m';

interface Folders {
  /** A copy of `from`, as a killed process would leave it. */
  killed(from: string): Promise<string>;
  open(folder: string, options?: Parameters<typeof openTestNode>[1]): Promise<TestNode>;
}

async function folders(context: TestContext): Promise<Folders> {
  const root = await temporaryFolder();
  const nodes: TestNode[] = [];
  context.after(async () => {
    for (const node of nodes) await node.close().catch(() => undefined);
  });
  let count = 0;
  return {
    async killed(from) {
      const to = join(root, `folder${++count}`);
      if (from !== '') await cp(from, to, { recursive: true });
      return to;
    },
    async open(folder, options = {}) {
      // With a stopped clock, only the steps start background work.
      const node = await openTestNode(folder, { clock: new ManualClock(), ...options });
      nodes.push(node);
      return node;
    },
  };
}

const bufferedBytes = ({ engine }: TestNode): number => engine.storage.state().bufferedBytes;

async function countFiles(node: TestNode): Promise<number> {
  const text = "SELECT count(*) FROM system.parquet_files WHERE table_name = 'm'";
  return Number((await query(node, text))[1]);
}

/** Writes rows with timestamps from `first` on and `v` = `value`. */
async function writeRows(node: TestNode, first: number, value: number): Promise<void> {
  const lines = Array.from(
    { length: ROWS_PER_WRITE },
    (_, i) => `m,t=${i % 5} v=${value}i,s="${PADDING}" ${first + i}`,
  );
  await writeLines(node, lines);
}

/**
 * Writes 2000 points with timestamps 0 to 1999, only in the log. `v` is 1; the first 250 are
 * written again with 2. Then 500 to 999 are deleted, one of them is written again, and 1000 further
 * points follow.
 */
async function writeLog(node: TestNode): Promise<readonly string[]> {
  for (let first = 0; first < 2000; first += ROWS_PER_WRITE) await writeRows(node, first, 1);
  await writeRows(node, 0, 2);
  await node.engine.deleteRows({
    database: 'd',
    tables: ['m'],
    ...{ minTimeNs: 500n, maxTimeNs: 999n, anyOf: [[]] },
  });
  await writeLines(node, ['m,t=0 v=10i 500']);
  for (let first = 2000; first < 3000; first += ROWS_PER_WRITE) await writeRows(node, first, 1);
  const count = 2000 - 500 + 1 + 1000;
  return [`${count} | ${count - 1 + 250 + 10}`];
}

it('flushes rows during replay and removes the log', async (context) => {
  const { killed, open } = await folders(context);
  const first = await killed('');
  const expected = await writeLog(await open(first));
  const second = await killed(first);
  const node = await open(second, { flags: SMALL });
  assert.equal(bufferedBytes(node), 0, 'all rows are in files');
  const fileCount = await countFiles(node);
  assert.ok(fileCount > 3, `${fileCount} files`);
  assert.deepEqual((await query(node, COUNT)).slice(1), expected);
  const { logBytes } = node.engine.storage.state();
  assert.ok(logBytes < 1000, `the log has ${logBytes} bytes`);
  await flushEngine(node.engine);
  await writeLines(node, ['m,t=0 v=100i 5000']);
  const third = await open(await killed(second), { flags: SMALL });
  assert.deepEqual((await query(third, 'SELECT v FROM m WHERE time = 5000')).slice(1), ['100']);
  assert.equal((await query(third, COUNT))[1]?.split(' ')[0], '2502');
});

it('keeps the rows of a short log in memory', async (context) => {
  const { killed, open } = await folders(context);
  const first = await killed('');
  await writeRows(await open(first), 0, 1);
  const node = await open(await killed(first), { flags: SMALL });
  assert.equal(await countFiles(node), 0);
  assert.ok(bufferedBytes(node) > 0 && bufferedBytes(node) < FLUSH_BYTES);
  assert.deepEqual((await query(node, COUNT)).slice(1), ['250 | 250']);
});

it('neither loses, duplicates nor restores deleted rows when any flush fails', async (context) => {
  const { killed, open } = await folders(context);
  const first = await killed('');
  const expected = await writeLog(await open(first));
  const whole = new CallFaults();
  await open(await killed(first), { flags: SMALL, faults: whole });
  const copyCount = whole.counts.get('duckdb.copy') ?? 0;
  assert.ok(copyCount > 5, `${copyCount} files written`);
  for (const kind of ['duckdb.copy', 'relational.transaction']) {
    const callCount = kind === 'duckdb.copy' ? copyCount : (whole.counts.get(kind) ?? 0);
    // The start's own transactions come first; if one fails, the start fails.
    for (let at = 1; at <= callCount; at++) {
      const faults = new CallFaults();
      faults.fail({ kind, at, count: kind === 'duckdb.copy' ? Number.POSITIVE_INFINITY : 1 });
      const second = await killed(first);
      const node = await open(second, { flags: SMALL, faults }).catch(() => undefined);
      faults.heal();
      const what = `${kind} ${at}`;
      if (node !== undefined) {
        assert.deepEqual((await query(node, COUNT)).slice(1), expected, what);
        // Deletions that have been applied to all files are dropped.
        await node.engine.background.compactor.compactWhenDue();
      }
      const third = await open(await killed(second), { flags: SMALL });
      assert.deepEqual((await query(third, COUNT)).slice(1), expected, `${what}, killed`);
      assert.equal(bufferedBytes(third), 0, what);
      await flushEngine(third.engine);
      assert.deepEqual((await query(third, COUNT)).slice(1), expected, `${what}, merged`);
      await third.close();
      await node?.close();
    }
  }
});
