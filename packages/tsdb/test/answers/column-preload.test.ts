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

describe('the column preload', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
  });

  it('loads a segment before its first query', { timeout: 60_000 }, async () => {
    const dir = join(folder, 'first');
    await fill(dir);
    const metrics = new Metrics();
    const node = await openTestNode(dir, { metrics });
    try {
      // Four columns of 8-bit and 16-bit values, a double, and the index of the rows.
      const size = await whenStill(() => gauge(metrics, 'plinth_tsdb_column_cache_bytes'));
      assert.ok(size > ROWS * (4 + 1 + 8), `${size} bytes are loaded`);
      const text =
        'SELECT host, count(*) AS n, sum(i) AS s, max(f) AS m FROM t GROUP BY host ORDER BY host';
      const first = await query(node, text);
      assert.equal(await gauge(metrics, 'plinth_tsdb_direct_queries_total'), 1);
      assert.deepEqual(first, await query(node, `${text} -- by DuckDB`));
      assert.equal(await gauge(metrics, 'plinth_tsdb_direct_queries_total'), 1);
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
      let before = 0;
      for (const [from, to] of [
        [0, 20_000],
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
          const inMemory = await gauge(metrics, 'plinth_tsdb_direct_queries_total');
          const first = await query(node, text);
          assert.equal(
            await gauge(metrics, 'plinth_tsdb_direct_queries_total'),
            inMemory + 1,
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

  it('stays within its share of the cache', { timeout: 60_000 }, async () => {
    const dir = join(folder, 'small');
    await fill(dir);
    const metrics = new Metrics();
    const limit = ROWS * 16;
    const node = await openTestNode(dir, {
      metrics,
      flags: { 'tsdb-column-cache-bytes': String(limit) },
    });
    try {
      await setTimeout(1500);
      const size = await gauge(metrics, 'plinth_tsdb_column_cache_bytes');
      assert.ok(size <= limit * 0.75, `${size} of ${limit} bytes are loaded`);
      const text = 'SELECT sum(i) AS s FROM t';
      assert.deepEqual(await query(node, text), await query(node, `${text} -- by DuckDB`));
    } finally {
      await node.close();
    }
  });
});

/** Writes rows of three hosts, which `close` flushes to a segment. */
async function fill(dir: string): Promise<void> {
  const node = await openTestNode(dir);
  await node.catalog.ensureDatabase('d');
  await writeRows(node, 0, ROWS, 3);
  await flushEngine(node.engine);
  await node.close();
}

/** Writes the rows `[from, to)` in time order. */
async function writeRows(
  node: OpenTsdb,
  from: number,
  to: number,
  hostCount = 1000,
): Promise<void> {
  const lines: string[] = [];
  for (let row = from; row < to; row++)
    lines.push(
      `t,host=h${row % hostCount} i=${row % 100}i,w=${row}i,f=${row / 8},b=${row % 2 === 0} ${row * 1000}`,
    );
  await writeLines(node, lines);
}

/** The value of `figure` once it exceeds `least` and no longer changes. */
async function whenStill(figure: () => Promise<number>, least = 0): Promise<number> {
  for (let before = 0; ; ) {
    const now = await figure();
    if (now > least && now === before) return now;
    before = now;
    await setTimeout(300);
  }
}

async function gauge(metrics: Metrics, name: string): Promise<number> {
  const [, value] = new RegExp(`^${name} (\\d+)`, 'm').exec((await metrics.page()).text) ?? [];
  return Number(value);
}
