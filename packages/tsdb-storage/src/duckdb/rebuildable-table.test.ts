import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { RebuildableTable } from './rebuildable-table.js';

/** DuckDB's memory holds a few million rows of this width. */
const ROWS_A_STEP = [16384, 3616, 64, 9000];
const FAILURES = 12;
const MAX_ATTEMPTS = 3000;

async function withPressure(
  work: (connection: DuckDBConnection, endPressure: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '64MB' });
  const writer = await instance.connect();
  await writer.run(
    "CREATE TABLE texts AS SELECT i, 'text ' || i || repeat('x', (i % 60)::INT) AS t FROM range(600000) r(i)",
  );
  await writer.run('CREATE TABLE grown (a BIGINT, b BIGINT, c BIGINT, t VARCHAR)');
  let hasEnded = false;
  const press = async (text: string): Promise<void> => {
    const connection = await instance.connect();
    while (!hasEnded) await connection.run(text).catch(() => undefined); // Most of them run out of memory.
    connection.closeSync();
  };
  const pressing = [
    'SELECT count(*) FROM (SELECT t FROM texts ORDER BY t DESC OFFSET 1)',
    'SELECT max(len(a)) FROM (SELECT array_agg(t) AS a FROM texts GROUP BY i % 50)',
    'SELECT count(*) FROM (SELECT t, count(*) AS c FROM texts GROUP BY t)',
  ].map(press);
  const endPressure = async (): Promise<void> => {
    hasEnded = true;
    await Promise.all(pressing);
  };
  try {
    await work(writer, endPressure);
  } finally {
    await endPressure();
    writer.closeSync();
    instance.closeSync();
  }
}

describe('a rebuildable DuckDB table', () => {
  it('has each row once and intact after commits failed for lack of memory', {
    timeout: 240_000,
  }, async () => {
    await withPressure(async (connection, endPressure) => {
      const table = new RebuildableTable('grown');
      let rowCount = 0;
      let failures = 0;
      for (let step = 0; step < MAX_ATTEMPTS && failures < FAILURES; step++) {
        const count = ROWS_A_STEP[step % ROWS_A_STEP.length] as number;
        try {
          await table.change(connection, rowCount, async () => {
            await connection.run(
              `INSERT INTO grown SELECT n, n, n, 'text ' || n FROM range(${rowCount}, ${rowCount + count}) r(n)`,
            );
          });
          rowCount += count;
        } catch (error) {
          assert.match(String(error), /memory|allocate|pin|evict/i);
          if (!/wait for memory/.test(String(error))) failures++;
        }
        await sleep(20);
      }
      await endPressure();
      for (let tries = 0; ; tries++) {
        try {
          await table.change(connection, rowCount, () => undefined);
          break;
        } catch (error) {
          if (tries === 200) throw error;
          await sleep(50);
        }
      }
      const reader = await connection.runAndReadAll(
        "SELECT count(*), count(DISTINCT a), count(*) FILTER (a <> b OR b <> c OR t <> 'text ' || c), count(*) FILTER (a <> rowid) FROM grown",
      );
      assert.deepEqual(reader.getRows(), [[BigInt(rowCount), BigInt(rowCount), 0n, 0n]]);
      assert.ok(failures > 0, 'DuckDB had no memory now and then');
    });
  });

  it('is rebuilt from the rows that it had', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const table = new RebuildableTable('grown');
    await connection.run('CREATE TABLE grown AS SELECT n FROM range(5) r(n)');
    const failed = table.change(connection, 5, async () => {
      await connection.run('INSERT INTO grown VALUES (77)'); // A failed commit may leave this row.
      throw new Error('no');
    });
    await assert.rejects(failed, /no/);
    await table.change(connection, 5, async () => {
      await connection.run('INSERT INTO grown VALUES (5)');
    });
    const reader = await connection.runAndReadAll('SELECT rowid, n FROM grown ORDER BY rowid');
    assert.deepEqual(
      reader.getRows(),
      [0n, 1n, 2n, 3n, 4n, 5n].map((n) => [n, n]),
    );
    connection.closeSync();
    instance.closeSync();
  });
});
