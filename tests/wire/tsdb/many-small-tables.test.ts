// Regression: 450 tables of ten rows created 900 files at each shutdown, which used up its complete time limit; 5,000
// tables created 10,000 files in one flush. Source: docs/adr/0145-small-tables-wait-in-the-log.md.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FLUSH_AT_ONCE,
  type OwnServer,
  rows,
  ServerInProcess,
  write,
} from '../../harness/index.js';

const TABLE_COUNT = 300;
const ROWS_OF_EACH = 10;
/** Number of small tables that are flushed together. */
const AT_A_TIME = 64;
// The server creates no tables for its own metrics.
const FLAGS = ['--without-auth', '--tsdb-internal-metrics-interval-ms', '0'];

async function fill(server: OwnServer): Promise<void> {
  const lines: string[] = [];
  for (let row = 1; row <= ROWS_OF_EACH; row++)
    for (let i = 0; i < TABLE_COUNT; i++) lines.push(`t${i},host=a v=${i}i ${row}`);
  await write(server, { db: 'small' }, lines.join('\n'));
}

async function assertAllOnce(server: OwnServer): Promise<void> {
  for (let from = 0; from < TABLE_COUNT; from += 50) {
    const numbers = Array.from({ length: 50 }, (_, k) => from + k);
    const each = numbers.map((i) => `SELECT ${i} AS i, count(*) AS n, sum(v) AS v FROM t${i}`);
    const found = await rows(server, 'small', `${each.join(' UNION ALL ')} ORDER BY i`);
    assert.deepEqual(
      found,
      numbers.map((i) => ({ i, n: ROWS_OF_EACH, v: ROWS_OF_EACH * i })),
    );
  }
}

const fileCount = async (dataDir: string): Promise<number> => {
  const names = await readdir(join(dataDir, 'objects'), { recursive: true });
  return names.filter((name) => name.endsWith('.parquet')).length;
};

it('An end of hundreds of small tables writes no file, and every start has their rows once', async () => {
  await using first = await ServerInProcess.start({ flags: FLAGS });
  const { dataDir } = first;
  await fill(first);
  assert.equal(await first.stop(), 0);
  assert.ok(
    first.logged('rows remain in the log and are restored at the next startup') !== undefined,
  );
  assert.equal(await fileCount(dataDir), 0);
  for (const end of ['stop', 'kill'] as const) {
    const next = await ServerInProcess.start({ dataDir, flags: FLAGS });
    const replayed = next.logged('rows restored from the log');
    assert.equal(replayed?.['rowCount'], TABLE_COUNT * ROWS_OF_EACH);
    await assertAllOnce(next);
    await next[end]();
    assert.equal(await fileCount(dataDir), 0);
  }
});

it('A flush by age writes a part of hundreds of small tables, and has all in files after some', async () => {
  await using first = await ServerInProcess.start({ flags: [...FLAGS, ...FLUSH_AT_ONCE] });
  const { dataDir } = first;
  await fill(first);
  const counts = new Set<number>();
  while (!counts.has(TABLE_COUNT)) {
    const { text } = await first.http.send('/metrics');
    counts.add(Number(/^plinth_tsdb_segments (\d+)$/m.exec(text)?.[1]));
    await sleep(50);
  }
  const possible = [0, 1, 2, 3, 4].map((flushes) => flushes * AT_A_TIME);
  for (const count of counts)
    assert.ok(count === TABLE_COUNT || possible.includes(count), [...counts].join());
  assert.ok(counts.size > 2, [...counts].join());
  await assertAllOnce(first);
  await first.stop();
  // One file of rows and one of series for each table, and no rows remain in the log for the next start.
  assert.equal(await fileCount(dataDir), 2 * TABLE_COUNT);
  await using next = await ServerInProcess.start({ dataDir, flags: FLAGS });
  assert.equal(next.logged('rows restored from the log'), undefined);
  await assertAllOnce(next);
});
