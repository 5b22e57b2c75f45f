import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { Metrics } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

/** DuckDB runs all statements with a comment. */
const BY_DUCKDB = ' -- by DuckDB';
const ROUNDS = 60;
/** Enough for moves to DuckDB, full cached ranges, and flushes in between. */
const LARGEST_BATCH = 6000;

describe('columns in memory while rows are written', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
  });

  it('sees every acknowledged row exactly once', { timeout: 240_000 }, async () => {
    const metrics = new Metrics();
    const flags = { 'tsdb-buffer-flush-bytes': String(2 * 1024 * 1024) };
    const node = await openTestNode(folder, { metrics, flags });
    try {
      await node.catalog.ensureDatabase('d');
      let [count, sum, next] = [0, 0, 1];
      for (let round = 0; round < ROUNDS; round++) {
        const size = 1 + ((round * 2654435761) % LARGEST_BATCH);
        const lines: string[] = [];
        let batchSum = 0;
        for (let i = 0; i < size; i++, next++) {
          // Every fifth batch is late: before rows of the same series, with its own timestamps.
          const time = round % 5 === 4 ? next * 10 - 99_995 : next * 10;
          lines.push(`t,host=h${next % 7} i=${next % 100}i,f=${(next % 8) / 4} ${time}`);
          batchSum += next % 100;
        }
        const writing = writeLines(node, lines);
        // During the write, a query sees the complete batch or nothing of it.
        for (const [n, s] of await Promise.all([totals(node), totals(node)])) {
          const isBefore = n === count && s === sum;
          const isAfter = n === count + size && s === sum + batchSum;
          assert.ok(isBefore || isAfter, `round ${round}: ${n} of ${count} and ${size}`);
        }
        await writing;
        count += size;
        sum += batchSum;
        assert.deepEqual(await totals(node), [count, sum], `round ${round}`);
        if (round % 7 === 3) assert.deepEqual(await totals(node, BY_DUCKDB), [count, sum]);
        if (round % 4 === 1) assert.equal(await groupedCount(node), count, `round ${round}`);
      }
      const { text } = await metrics.page();
      const [, columnQueries] = /plinth_tsdb_direct_queries_total (\d+)/.exec(text) ?? [];
      const [, flushes] = /plinth_tsdb_flushes_total (\d+)/.exec(text) ?? [];
      assert.ok(Number(columnQueries) > ROUNDS, `only ${columnQueries} answers came from memory`);
      assert.ok(Number(flushes) > 0, 'nothing was flushed');
    } finally {
      await node.close();
    }
  });

  it("returns DuckDB's results while fields change between queries", {
    timeout: 240_000,
  }, async () => {
    const metrics = new Metrics();
    const node = await openTestNode(await mkdtemp(join(folder, 'fields-')), { metrics });
    try {
      await node.catalog.ensureDatabase('d');
      let next = 1;
      for (let round = 0; round < 30; round++) {
        const size = 1 + ((round * 2654435761) % LARGEST_BATCH);
        const lines: string[] = [];
        for (let i = 0; i < size; i++, next++) {
          // Each field first appears in a different round, and some rows lack it.
          const fields = [`i=${next % 1000}i`];
          if (round >= 6 && next % 3 > 0) fields.push(`f=${(next % 16) / 8}`);
          if (round >= 12 && next % 5 > 0) fields.push(`b=${next % 2 === 0}`);
          if (round === 18) fields.push(`once=${next % 128}i`);
          lines.push(`t,host=h${next % 7} ${fields} ${next * 1_000_000}`);
        }
        await writeLines(node, lines);
        const half = `time < '${new Date(next / 2).toISOString()}'`;
        for (const sql of [
          ...['i', ...(round >= 6 ? ['f'] : []), ...(round >= 18 ? ['once'] : [])].map(
            (field) => `SELECT host, count(${field}) AS n, sum(${field}) AS s FROM t GROUP BY host`,
          ),
          ...(round % 2 === 0 ? [`SELECT count(i) AS n, max(i) AS m FROM t WHERE ${half}`] : []),
          ...(round >= 12 ? ['SELECT DISTINCT ON (host) * FROM t ORDER BY host, time DESC'] : []),
        ]) {
          const byColumns = (await query(node, sql)).toSorted();
          const expected = (await query(node, `${sql}${BY_DUCKDB}`)).toSorted();
          assert.deepEqual(byColumns, expected, `round ${round}: ${sql}`);
        }
      }
      const { text } = await metrics.page();
      const [, columnQueries] = /plinth_tsdb_direct_queries_total (\d+)/.exec(text) ?? [];
      assert.ok(Number(columnQueries) > 60, `only ${columnQueries} answers came from memory`);
    } finally {
      await node.close();
    }
  });
});

const rowsOf = async (node: OpenTsdb, text: string): Promise<string[]> =>
  (await query(node, text)).slice(1);

async function totals(node: OpenTsdb, comment = ''): Promise<readonly [number, number]> {
  const text = `SELECT count(*) AS n, sum(i) AS s FROM t${comment}`;
  const [row] = await rowsOf(node, text).catch((error: unknown) => {
    assert.match(String(error), /table .* not found/, 'before the first write');
    return ['0 | 0'];
  });
  const [n, s] = (row ?? '').split(' | ');
  return [Number(n), s === 'NULL' ? 0 : Number(s)];
}

async function groupedCount(node: OpenTsdb): Promise<number> {
  const rows = await rowsOf(
    node,
    "SELECT date_bin(INTERVAL '5 microseconds', time) AS bucket, host, count(f) AS n FROM t GROUP BY bucket, host ORDER BY bucket, host",
  );
  return rows.reduce((all, row) => all + Number(row.split(' | ')[2]), 0);
}
