// Source: docs/adr/0082-file-commits.md, "Flush groups". Own process: it is killed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OwnServer, rows, ServerInProcess, ServerProcess, write } from '../harness/index.js';

const TABLE_COUNT = 120;
/** With the minimum memory a flush group has about 60 tables. */
const FLAGS = [
  '--without-auth',
  ...['--tsdb-query-memory-bytes', `${32 * 1024 * 1024}`],
  // The server creates no tables for its own metrics.
  ...['--tsdb-internal-metrics-interval-ms', '0'],
];
const FLUSH_NOW = [...FLAGS, '--tsdb-buffer-flush-age-ms', '100'];

const segmentCount = async (server: OwnServer): Promise<number> => {
  const { text } = await server.http.send('/metrics');
  return Number(/^plinth_tsdb_segments (\d+)$/m.exec(text)?.[1]);
};

/** Resolves when `count` segments exist; a running server continues to write them. */
async function untilSegments(server: OwnServer, count: number): Promise<void> {
  for (let tries = 0; (await segmentCount(server)) < count; tries++) {
    assert.ok(tries < 3000, `there are never ${count} segments`);
    await sleep(20);
  }
}

/** Each table has one row, whose value identifies the table. */
async function assertAllOnce(server: OwnServer): Promise<void> {
  const each = Array.from(
    { length: TABLE_COUNT },
    (_, i) => `SELECT ${i} AS i, count(*) AS n, sum(v) AS v FROM t${i}`,
  );
  for (let from = 0; from < TABLE_COUNT; from += 40) {
    const part = each.slice(from, from + 40);
    const found = await rows(server, 'crash', `${part.join(' UNION ALL ')} ORDER BY i`);
    const expected = part.map((_, k) => ({ i: from + k, n: 1, v: from + k }));
    assert.deepEqual(found, expected);
  }
}

describe('A server killed between two groups of a flush', () => {
  it('has every row once, after the next start and after the next flush', async () => {
    const first = await ServerProcess.start({ flags: FLUSH_NOW });
    const { dataDir } = first;
    const lines = Array.from({ length: TABLE_COUNT }, (_, i) => `t${i},host=a v=${i}i 1`);
    await write(first, { db: 'crash' }, lines.join('\n'));
    await untilSegments(first, 1);
    await first.kill();

    const second = await ServerInProcess.start({ dataDir, flags: FLAGS });
    const registered = await segmentCount(second);
    assert.ok(registered > 0 && registered < TABLE_COUNT, `${registered} segments`);
    await assertAllOnce(second);
    await second.kill();

    await using third = await ServerInProcess.start({
      dataDir,
      flags: FLUSH_NOW,
    });
    await untilSegments(third, TABLE_COUNT);
    await assertAllOnce(third);
    assert.equal(await segmentCount(third), TABLE_COUNT);
  });
});
