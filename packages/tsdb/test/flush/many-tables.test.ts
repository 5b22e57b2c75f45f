// Regression test: 5,300 tables of one row, written between two flushes, exhausted DuckDB's memory,
// and every further flush failed.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { it, type TestContext } from 'node:test';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { flushEngine, flushNode } from '#src/testing/flush-node.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

async function open(
  context: TestContext,
  dataDir: string,
  options: Omit<NonNullable<Parameters<typeof openTestNode>[1]>, 'clock'> = {},
): Promise<TestNode> {
  const node = await openTestNode(dataDir, { clock: new ManualClock(), ...options });
  context.after(() => node.close());
  return node;
}

/** The minimum that a server accepts. */
const LEAST_MEMORY = { 'tsdb-query-memory-bytes': String(32 * 1024 * 1024) };
/** Rows and series of one table take some 500 kB, which DuckDB does not spill. */
const TABLE_COUNT = 80;
const FIELDS = Array.from({ length: 19 }, (_, i) => `w${i}=1`).join();

const ROWS_OF_MANY = Array.from(
  { length: TABLE_COUNT },
  (_, i) => `m${i},host=a,zone=b,rack=c v=${i}i,${FIELDS} 1`,
);

it("flushes and reads more tables than fit in DuckDB's memory", async (context) => {
  const node = await open(context, await temporaryFolder(), { flags: LEAST_MEMORY });
  await writeLines(node, ROWS_OF_MANY);
  await flushEngine(node.engine);
  for (let i = 0; i < TABLE_COUNT; i++) {
    const text = `SELECT v, rack FROM m${i} WHERE host = 'a'`;
    assert.deepEqual((await query(node, text)).slice(1), [`${i} | c`], `m${i}`);
  }
});

it('yields while the rows of thousands of new tables become visible', async (context) => {
  const node = await open(context, await temporaryFolder());
  const count = 1500;
  const lines = Array.from({ length: count }, (_, i) => `new${i} f=1 1`);
  let isOver = false;
  const writing = writeLines(node, lines).finally(() => {
    isOver = true;
  });
  const storeOf = (schema: TableSchema) => (node.engine as TsdbEngine).tableStore(schema);
  const filled = (): number => {
    const tables = [...(node.catalog.database(TEST_DATABASE)?.tables.values() ?? [])];
    return tables.filter((schema) => storeOf(schema).minBufferedSeq !== undefined).length;
  };
  let before = 0;
  let most = 0;
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = filled();
    most = Math.max(most, now - before);
    before = now;
  }
  await writing;
  assert.equal(filled(), count);
  assert.ok(most <= count / 3, `${most} of ${count} tables in one turn`);
});

it('flushes rows that queries copied to DuckDB before they fill its memory', async (context) => {
  const clock = new ManualClock();
  const flags = { ...LEAST_MEMORY, 'tsdb-column-cache-bytes': '0' };
  const node = await openTestNode(await temporaryFolder(), { clock, flags });
  context.after(() => node.close());
  await writeLines(node, ROWS_OF_MANY);
  const responses = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++)
      assert.deepEqual((await query(node, `SELECT sum(v) FROM m${i}`)).slice(1), [`${i}`]);
  };
  // More than half of DuckDB's memory, and more than all of it with the others.
  await responses(0, 45);
  const flushed = async (): Promise<boolean> =>
    (await query(node, "SELECT * FROM system.parquet_files WHERE table_name = 'm79'")).length > 1;
  for (let sec = 0; sec < 600 && !(await flushed()); sec++) {
    await clock.advanceMs(1000);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.ok(await flushed());
  await responses(0, TABLE_COUNT);
});

/** Row count and sum of three tables. */
async function contents(node: TestNode): Promise<readonly string[]> {
  const responses: string[] = [];
  for (const table of ['a', 'b', 'c']) {
    responses.push(...(await query(node, `SELECT count(v), sum(v) FROM ${table}`)).slice(1));
  }
  return responses;
}

const ROWS = ['a,host=a v=1i 1', 'b,host=a v=2i 1', 'c,host=a v=3i 1'];
const ALL = ['1 | 1', '1 | 2', '1 | 3'];

it('has every row once after a kill between two groups of a flush', async (context) => {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const node = await open(context, dataDir, { faults, flushGroupTables: 1 });
  await writeLines(node, ROWS);
  // Each table has a file of rows and one of series: the third file, with the second table's rows,
  // fails.
  faults.fail({ kind: 'duckdb.copy', at: 3, count: Number.POSITIVE_INFINITY });
  await assert.rejects(flushEngine(node.engine), { kind: 'duckdb.copy' });
  assert.deepEqual(await contents(node), ALL);
  await writeLines(node, ['a,host=a v=7i 2']);
  const expected = ['2 | 8', '1 | 2', '1 | 3'];
  const killed = await temporaryFolder();
  await cp(dataDir, killed, { recursive: true });
  const next = await open(context, killed, { flushGroupTables: 1 });
  assert.deepEqual(await contents(next), expected);
  assert.equal((await flushNode(next)).length, 2 + 1 + 2 + 2);
  assert.deepEqual(await contents(next), expected);
  faults.heal();
  assert.equal((await flushNode(node)).length, 2 + 1 + 2 + 2);
  assert.deepEqual(await contents(node), expected);
});

it('does not restore rows from the log that were deleted from files', async (context) => {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const node = await open(context, dataDir, { faults, flushGroupTables: 1 });
  await writeLines(node, ROWS);
  faults.fail({ kind: 'duckdb.copy', at: 3 });
  await assert.rejects(flushEngine(node.engine), { kind: 'duckdb.copy' });
  await node.engine.deleteRows({
    database: TEST_DATABASE,
    tables: ['a'],
    anyOf: [[]],
    minTimeNs: 1n,
    maxTimeNs: 1n,
  });
  await node.engine.background.compactor.compactWhenDue();
  assert.equal(node.engine.waitingDeletionCount, 0);
  const killed = await temporaryFolder();
  await cp(dataDir, killed, { recursive: true });
  const next = await open(context, killed);
  assert.deepEqual(await contents(next), ['0 | NULL', '1 | 2', '1 | 3']);
});
