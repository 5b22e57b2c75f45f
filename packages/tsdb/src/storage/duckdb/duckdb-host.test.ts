import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { DuckDbHost } from './duckdb-host.js';

describe('an engine with little memory', () => {
  let folder: string;
  let host: DuckDbHost;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plinth-engine-'));
    host = await DuckDbHost.open({
      dataDir: folder,
      spillDir: join(folder, 'spill'),
      memoryLimitBytes: 64 * 1048576,
      threads: 2,
      idleConnections: 2,
      register: async () => {},
    });
  });
  after(async () => {
    await host.close();
    await rm(folder, { recursive: true });
  });

  it('sorts more than its memory holds', async () => {
    // 8,000,000 rows of 16 bytes and their keys.
    const text = `SELECT max(place) FROM (SELECT row_number() OVER (ORDER BY hash(n)) AS place, n
      FROM range(8000000) t(n))`;
    assert.deepEqual(await host.rows(text), [[8_000_000n]]);
  });

  it('fails a query that can neither be held nor spilled, and no other', async () => {
    const greedy = 'SELECT len(list(n)) FROM range(100000000) t(n)';
    const [failed, ...others] = await Promise.allSettled([
      host.rows(greedy),
      host.rows('SELECT sum(n)::BIGINT FROM range(1000) t(n)'),
      host.rows('SELECT 1::BIGINT'),
    ]);
    assert.equal(failed?.status, 'rejected');
    assert.match(String(failed.reason), /Out of Memory Error/);
    assert.deepEqual(
      others.map((answer) => answer.status === 'fulfilled' && answer.value),
      [[[499_500n]], [[1n]]],
    );
    assert.deepEqual(await host.rows('SELECT 2::BIGINT'), [[2n]]);
  });

  it('explains a query before and after it has been optimised', async () => {
    const rows = await host.rows('EXPLAIN SELECT 1');
    assert.deepEqual(
      rows.map(([type]) => type),
      ['logical_plan', 'logical_opt', 'physical_plan'],
    );
  });
});
