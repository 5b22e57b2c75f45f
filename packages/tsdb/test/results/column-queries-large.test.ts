import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Metrics } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

/** Several time slices, in a segment and in unflushed rows. */
const STORED_ROWS = 34_000;
const ROWS = 44_000;
const BY_DUCKDB = ' -- by DuckDB';

describe('large results from memory', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
    const node = await openTestNode(folder);
    await node.catalog.ensureDatabase(TEST_DATABASE);
    await writeRows(node, 0, STORED_ROWS);
    await node.close();
  });

  it('have the same rows as from DuckDB, in time order', { timeout: 60_000 }, async () => {
    const metrics = new Metrics();
    const node = await openTestNode(folder, { metrics });
    try {
      await writeRows(node, STORED_ROWS, ROWS);
      for (const text of [
        'SELECT g, time FROM t ORDER BY time DESC',
        "SELECT * FROM t WHERE host <> 'h3' AND time >= '1970-01-01T00:00:01Z' ORDER BY time LIMIT 36000 OFFSET 500",
        'SELECT time, f, host FROM t ORDER BY time DESC LIMIT 10',
      ]) {
        const expected = await query(node, text + BY_DUCKDB);
        assert.ok(text.endsWith('LIMIT 10') || expected.length > STORED_ROWS, text);
        const actual = await resultFromColumns(node, metrics, text);
        // Every row has its own timestamp, so the order is defined.
        assert.deepEqual(actual, expected, text);
      }
    } finally {
      await node.close();
    }
  });

  it('count as column memory until they have been read', {
    timeout: 60_000,
  }, async () => {
    const metrics = new Metrics();
    const node = await openTestNode(folder, { metrics });
    const cacheBytes = (): Promise<number> => gauge(metrics, 'plinth_tsdb_column_cache_bytes');
    try {
      const text = 'SELECT time, host, f FROM t';
      await resultFromColumns(node, metrics, text);
      const { chunks } = await node.engine.query({
        ...{
          database: TEST_DATABASE,
          access: FULL_ACCESS,
          language: 'sql',
          text,
          params: new Map(),
        },
        signal: new AbortController().signal,
      });
      const reader = chunks[Symbol.asyncIterator]();
      const first = await reader.next();
      assert.equal(first.done, false);
      await node.catalog.deletions.deleteTable({
        ...{ database: TEST_DATABASE, table: 't', hardDelete: { kind: 'now' } },
      });
      // A 4-byte time offset and a double per row.
      await setTimeout(200);
      assert.ok((await cacheBytes()) >= STORED_ROWS * 12);
      await reader.return?.(undefined);
      while ((await cacheBytes()) > 0) await setTimeout(20);
    } finally {
      await node.close();
    }
  });
});

/** One row per millisecond, of ten hosts in irregular order; some rows lack `g`. */
async function writeRows(node: OpenTsdb, from: number, to: number): Promise<void> {
  const lines: string[] = [];
  for (let row = from; row < to; row++) {
    const g = row % 7 === 0 ? '' : `,g=${row}i`;
    lines.push(`t,host=h${(row * 2654435761) % 10} f=${row / 8}${g} ${row * 1_000_000}`);
  }
  await writeLines(node, lines);
}

/**
 * Repeats the query until it is served from memory: missing columns are loaded after the first or
 * second query.
 */
async function resultFromColumns(
  node: OpenTsdb,
  metrics: Metrics,
  text: string,
): Promise<string[]> {
  const answered = (): Promise<number> => gauge(metrics, 'plinth_tsdb_direct_queries_total');
  for (let attempt = 0; attempt < 200; attempt++) {
    const before = await answered();
    const response = await query(node, text);
    if ((await answered()) > before) return response;
    await setTimeout(20);
  }
  throw new Error(`never answered from memory: ${text}`);
}

async function gauge(metrics: Metrics, name: string): Promise<number> {
  const { text } = await metrics.page();
  const [, value] = new RegExp(`^${name} (\\d+)`, 'm').exec(text) ?? [];
  return Number(value);
}
