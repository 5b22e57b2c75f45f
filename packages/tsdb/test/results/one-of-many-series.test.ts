// Regression test: the first query of one of a million series took 1.6 s, because all series were
// first copied to DuckDB.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const SERIES_COUNT = 9000;

it('copies no series to DuckDB for a query of one', async (context) => {
  const dataDir = await temporaryFolder();
  const start = async () => {
    const faults = new CallFaults();
    const flags = { 'tsdb-column-cache-bytes': '0' };
    const node = await openTestNode(dataDir, { faults, flags, clock: new ManualClock() });
    return { node, appended: () => faults.counts.get('duckdb.append') ?? 0 };
  };
  const first = await start();
  let { node } = first;
  context.after(() => node.close());
  await writeLines(
    node,
    Array.from({ length: SERIES_COUNT }, (_, i) => `m,host=h${i},zone=z${i % 7} v=${i}i ${i + 1}`),
  );
  const assertOne = async (appended: () => number): Promise<void> => {
    // The first query flushes the pending rows to DuckDB.
    assert.deepEqual(await query(node, 'SELECT count(v) AS n FROM m'), ['n', String(SERIES_COUNT)]);
    const before = appended();
    const one = "FROM m WHERE host = 'h5000'";
    assert.deepEqual(await query(node, `SELECT sum(v) AS v ${one}`), ['v', '5000']);
    const tags = await query(node, `SELECT host, zone, v ${one}`);
    assert.deepEqual(tags, ['host | zone | v', 'h5000 | z2 | 5000']);
    const grouped = await query(node, `SELECT zone, max(v) AS v ${one} GROUP BY zone`);
    assert.deepEqual(grouped, ['zone | v', 'z2 | 5000']);
    assert.deepEqual(await query(node, "SELECT host, v FROM m WHERE host = 'no'"), ['host | v']);
    assert.equal(appended(), before);
    const two = "SELECT host, v FROM m WHERE host IN ('h1', 'h2') ORDER BY host";
    assert.deepEqual(await query(node, two), ['host | v', 'h1 | 1', 'h2 | 2']);
    assert.ok(appended() > before);
  };
  await assertOne(first.appended);
  await flushEngine(node.engine);
  await node.close();
  const second = await start();
  node = second.node;
  await assertOne(second.appended);
});
