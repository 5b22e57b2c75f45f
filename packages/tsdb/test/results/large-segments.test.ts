// Source: docs/adr/0005-in-memory-columns.md: large segments are kept in memory in ranges, like
// smaller ones.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Metrics } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

/** Number of flushes that are merged together. */
const FLUSHES = 8;
const ROWS_OF_FLUSH = 150_000;
const ROWS_OF_WRITE = 30_000;
const HOSTS = 7;
/** Number of points that are written twice. */
const AGAIN = 10_000;
const FIELDS = 8;
/** Two thirds of the size of the rows: the merge has to sort on disk. With half, it sometimes fails. */
const ENGINE_BYTES = 56 * 1024 * 1024;
/** The segment is divided into eight cached ranges. */
const SEGMENT_RANGE_ROWS = 150_000;

it('merges more rows than fit in memory, and serves all of them from memory', {
  timeout: 240_000,
}, async () => {
  const folder = await temporaryFolder();
  const metrics = new Metrics();
  const flags = { 'tsdb-query-memory-bytes': String(ENGINE_BYTES) };
  const node = await openTestNode(folder, { metrics, flags, cachedRangeRows: SEGMENT_RANGE_ROWS });
  try {
    await node.catalog.ensureDatabase(TEST_DATABASE);
    const rowCount = FLUSHES * ROWS_OF_FLUSH;
    for (let row = 0; row < rowCount; row += ROWS_OF_WRITE) {
      await writeLines(
        node,
        Array.from({ length: ROWS_OF_WRITE }, (_, i) => lineOf(row + i)),
      );
      if ((row + ROWS_OF_WRITE) % ROWS_OF_FLUSH === 0) await flushNode(node);
    }
    assert.equal(node.engine.storage.state().compaction.lastFailure, undefined);
    assert.deepEqual(await query(node, 'SELECT row_count FROM system.parquet_files'), [
      'row_count',
      String(rowCount),
    ]);
    const sums = new Array<number>(HOSTS).fill(0);
    for (let row = 0; row < rowCount; row++) {
      sums[row % HOSTS] = (sums[row % HOSTS] as number) + numberOf(row, 3);
    }
    const text = 'SELECT host, sum(f3) AS s, max(f0) AS m FROM t GROUP BY host ORDER BY host';
    const expected = sums.map((sum, host) => `h${host} | ${sum} | ${lastOf(host, rowCount)}`);
    const direct = async (): Promise<number> =>
      Number(
        /^plinth_tsdb_direct_queries_total (\d+)/m.exec((await metrics.page()).text)?.[1] ?? 0,
      );
    let isFromColumns = false;
    for (let attempt = 0; attempt < 200 && !isFromColumns; attempt++) {
      const before = await direct();
      assert.deepEqual(await query(node, text), ['host | s | m', ...expected]);
      isFromColumns = (await direct()) > before;
      if (!isFromColumns) await setTimeout(20);
    }
    assert.ok(isFromColumns);
    // Writes some points of one host again, which a merge groups by key.
    const again = Array.from({ length: AGAIN }, (_, i) => `t,host=h0 f3=1i ${i * HOSTS}`);
    await writeLines(node, again);
    await flushNode(node);
    assert.equal(node.engine.storage.state().compaction.lastFailure, undefined);
    assert.deepEqual(await query(node, 'SELECT row_count FROM system.parquet_files'), [
      'row_count',
      String(rowCount),
    ]);
    let sum = sums[0] as number;
    for (let i = 0; i < AGAIN; i++) sum += 1 - numberOf(i * HOSTS, 3);
    const merged = [`h0 | ${sum} | ${lastOf(0, rowCount)}`, ...expected.slice(1)];
    assert.deepEqual(await query(node, text), ['host | s | m', ...merged]);
  } finally {
    await node.close();
  }
});

/** The first field counts the rows; the others are pseudorandom numbers below one million or so. */
const numberOf = (row: number, field: number): number =>
  field === 0 ? row : (row * (field * 7919 + 104_729)) % 1_000_003;

function lineOf(row: number): string {
  const fields = Array.from({ length: FIELDS }, (_, i) => `f${i}=${numberOf(row, i)}i`);
  return `t,host=h${row % HOSTS} ${fields.join(',')} ${row}`;
}

/** The last row of a host. */
const lastOf = (host: number, rowCount: number): number =>
  rowCount - 1 - ((((rowCount - 1 - host) % HOSTS) + HOSTS) % HOSTS);
