import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Metrics } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { OpenTsdb } from '#src/service.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const ROWS = 4000;
const FIRST_ROWS = 1000;

describe('the column preload', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
  });

  it('loads all columns of new segments of a table that a query has read', {
    timeout: 60_000,
  }, async () => {
    const metrics = new Metrics();
    const node = await openTestNode(join(folder, 'first'), { metrics });
    const direct = (): Promise<number> => gauge(metrics, 'plinth_tsdb_direct_queries_total');
    try {
      await node.catalog.ensureDatabase('d');
      await writeRows(node, 0, ROWS, 3);
      await flushEngine(node.engine);
      const text = 'SELECT host, count(*) AS n, sum(i) AS s FROM t GROUP BY host ORDER BY host';
      await query(node, text);
      assert.equal(await direct(), 0);
      await writeRows(node, ROWS, 2 * ROWS, 3);
      await writeRows(node, 0, 2 * ROWS, 3, 'unread');
      await flushEngine(node.engine);
      // The index of the rows, and values of 8, 8, 16 and 64 bits, of both segments.
      const leastBytes = 2 * ROWS * (4 + 1 + 1 + 2 + 8);
      const size = await whenStill(
        () => gauge(metrics, 'plinth_tsdb_column_cache_bytes'),
        leastBytes - 1,
      );
      assert.ok(size < 1.5 * leastBytes, `${size} bytes are loaded`);
      const first = await query(node, text);
      assert.equal(await direct(), 1);
      assert.deepEqual(first, await query(node, `${text} -- by DuckDB`));
      // No query has requested this column.
      await query(node, 'SELECT max(f) AS m FROM t');
      assert.equal(await direct(), 2);
      await query(node, 'SELECT max(f) AS m FROM unread');
      assert.equal(await direct(), 2);
    } finally {
      await node.close();
    }
  });

  it('sorts unflushed rows, and again when their number has doubled', {
    timeout: 60_000,
  }, async () => {
    const metrics = new Metrics();
    const node = await openTestNode(join(folder, 'unflushed'), { metrics });
    try {
      await node.catalog.ensureDatabase('d');
      const texts = [
        'SELECT host, count(*) AS n, sum(i) AS s, max(f) AS m FROM t GROUP BY host ORDER BY host',
        "SELECT * FROM t WHERE host = 'h7' ORDER BY time DESC LIMIT 3",
        'SELECT DISTINCT ON (host) * FROM t ORDER BY host, time DESC',
      ];
      await writeRows(node, 0, FIRST_ROWS);
      for (const text of texts) await query(node, text);
      // More than the first rows take, less than all.
      let before = FIRST_ROWS * 40;
      for (const [from, to] of [
        [FIRST_ROWS, 20_000],
        [20_000, 30_000],
        [30_000, 70_000],
      ] as const) {
        await writeRows(node, from, to);
        const size = await whenStill(
          () => gauge(metrics, 'plinth_tsdb_column_cache_bytes'),
          before,
        );
        // Timestamps, their order, a double and numbers of 8 and 32 bits; nothing for the few rows
        // written afterwards.
        const rows = to === 30_000 ? 20_000 : to;
        assert.ok(size >= rows * (6 + 8 + 1 + 2 + 1), `${size} bytes are loaded of ${to} rows`);
        for (const text of texts) {
          const countBefore = await gauge(metrics, 'plinth_tsdb_direct_queries_total');
          const first = await query(node, text);
          assert.equal(
            await gauge(metrics, 'plinth_tsdb_direct_queries_total'),
            countBefore + 1,
            text,
          );
          assert.deepEqual(first, await query(node, `${text} -- by DuckDB`));
        }
        before = to === 20_000 ? 0 : await gauge(metrics, 'plinth_tsdb_column_cache_bytes');
      }
    } finally {
      await node.close();
    }
  });

  it('leaves older segments out of queries for last rows', { timeout: 60_000 }, async () => {
    const metrics = new Metrics();
    const node = await openTestNode(join(folder, 'last'), { metrics });
    const direct = (): Promise<number> => gauge(metrics, 'plinth_tsdb_direct_queries_total');
    const text = 'SELECT DISTINCT ON (host) host, i, w FROM t ORDER BY host, time DESC';
    const check = async (): Promise<void> => {
      const before = await direct();
      const expected = await query(node, `${text} -- by DuckDB`);
      let actual: readonly string[] = [];
      for (let tries = 0; tries < 100 && (await direct()) === before; tries++) {
        actual = await query(node, text);
        await setTimeout(20);
      }
      assert.equal(await direct(), before + 1);
      assert.deepEqual(actual, expected);
    };
    try {
      await node.catalog.ensureDatabase('d');
      for (let at = 0; at < 3; at++) {
        await writeRows(node, at * ROWS, (at + 1) * ROWS, 3);
        await flushEngine(node.engine);
      }
      await check();
      const size = await gauge(metrics, 'plinth_tsdb_column_cache_bytes');
      assert.ok(size < 2 * ROWS * (4 + 1 + 2), `${size} bytes are loaded`);
      // The fourth host is only in the oldest rows.
      await writeLines(node, ['t,host=h9 i=1i,w=1i 5']);
      await flushEngine(node.engine);
      await check();
    } finally {
      await node.close();
    }
  });

  it('stays within its share of the cache', { timeout: 60_000 }, async () => {
    const metrics = new Metrics();
    // Three quarters of the limit hold the columns of one of two segments.
    const limit = ROWS * 24;
    const flags = { 'tsdb-column-cache-bytes': String(limit) };
    const node = await openTestNode(join(folder, 'small'), { metrics, flags });
    try {
      await node.catalog.ensureDatabase('d');
      await writeRows(node, 0, ROWS, 3);
      await flushEngine(node.engine);
      const text = 'SELECT sum(i) AS s, sum(w) AS w, max(f) AS f, count(b) AS b FROM t';
      await query(node, text);
      await writeRows(node, ROWS, 2 * ROWS, 3);
      await flushEngine(node.engine);
      const size = await whenStill(() => gauge(metrics, 'plinth_tsdb_column_cache_bytes'));
      assert.ok(size <= limit * 0.75, `${size} of ${limit} bytes are loaded`);
      assert.deepEqual(await query(node, text), await query(node, `${text} -- by DuckDB`));
    } finally {
      await node.close();
    }
  });
});

/** Writes the rows `[from, to)` in time order. */
async function writeRows(
  node: OpenTsdb,
  from: number,
  to: number,
  hostCount = 1000,
  table = 't',
): Promise<void> {
  const lines: string[] = [];
  for (let row = from; row < to; row++)
    lines.push(
      `${table},host=h${row % hostCount} i=${row % 100}i,w=${row}i,f=${row / 8},b=${row % 2 === 0} ${row * 1000}`,
    );
  await writeLines(node, lines);
}

/** The value of `figure` once it exceeds `least` and no longer changes. */
async function whenStill(figure: () => Promise<number>, least = 0): Promise<number> {
  for (let before = 0; ; ) {
    const now = await figure();
    if (now > least && now === before) return now;
    before = now;
    await setTimeout(200);
  }
}

async function gauge(metrics: Metrics, name: string): Promise<number> {
  const [, value] = new RegExp(`^${name} (\\d+)`, 'm').exec((await metrics.page()).text) ?? [];
  return Number(value);
}
