import assert from 'node:assert/strict';
import { it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

/** More than a DuckDB thread processes in one step, and more than DuckDB buffers for a client. */
const ROWS = 500_000;
const ROWS_OF_REQUEST = 100_000;
const GROUPS = 1000;

it('completes a UNION ALL of large parts with joins and groups', {
  timeout: 120_000,
}, async () => {
  const folder = await temporaryFolder();
  const node = await openTestNode(folder, { flags: { 'tsdb-query-threads': '1' } });
  await node.catalog.ensureDatabase(TEST_DATABASE);
  for (let from = 0; from < ROWS; from += ROWS_OF_REQUEST) {
    const rows = Array.from({ length: ROWS_OF_REQUEST }, (_, i) => from + i);
    await writeLines(
      node,
      rows.map((row) => `t,host=h${row % 50} n=${row}i ${row}`),
    );
  }
  const { chunks } = await node.engine.query({
    ...{ database: TEST_DATABASE, access: FULL_ACCESS, language: 'sql', params: new Map() },
    text: `SELECT a.n FROM t a JOIN t b ON a.n = b.n
      UNION ALL SELECT max(n) FROM t GROUP BY n % ${GROUPS}`,
    signal: new AbortController().signal,
  });
  let rowCount = 0;
  for await (const chunk of chunks) rowCount += chunk.rowCount;
  assert.equal(rowCount, ROWS + GROUPS);
  await node.close();
});
