// Files that cannot be merged do not block other merges.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { createLogger, Metrics } from '@plinth/kernel';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

it('merges other segments of the same and other tables beside a damaged one', async (context) => {
  const dataDir = await temporaryFolder();
  const clock = new ManualClock();
  const metrics = new Metrics();
  const told: string[] = [];
  const destination = { write: (line: string) => void told.push(line) };
  const log = createLogger({ level: 'info', destination });
  const node = await openTestNode(dataDir, { clock, metrics, log });
  context.after(() => node.close());
  const segmentCount = async (table: string): Promise<number> => {
    const found = await query(
      node,
      `SELECT count(*) FROM system.parquet_files WHERE table_name = '${table}'`,
    );
    return Number(found[1]);
  };
  const flush = async (line: string): Promise<string | undefined> => {
    await writeLines(node, [line]);
    return (await flushNode(node))[0];
  };
  const first = await flush('damaged,t=a v=0i 0');
  assert.ok(first);
  await writeFile(join(dataDir, 'objects', first), 'no file of Parquet');
  for (let i = 1; i < 20; i++) await flush(`damaged,t=a v=${i}i ${i}`);
  for (let i = 0; i < 20; i++) await flush(`later,t=a v=${i}i ${i}`);
  assert.equal(await segmentCount('later'), 6); // two merges of 8, and four files
  // the damaged file, two merges of 8, and three files
  assert.equal(await segmentCount('damaged'), 6);
  assert.deepEqual(await query(node, 'SELECT count(v), sum(v) FROM later'), [
    'count(later.v) | sum(later.v)',
    '20 | 190',
  ]);
  const failed = async (): Promise<number> => {
    const { text } = await metrics.page();
    return Number(/^plinth_tsdb_compactions_failed_total (\d+)/m.exec(text)?.[1]);
  };
  assert.equal(await failed(), 1); // the retry is delayed
  await clock.advanceMs(60_000);
  // A merge of eight of the lowest level includes the damaged file, which is retried.
  for (let i = 20; i < 24; i++) await flush(`damaged,t=a v=${i}i ${i}`);
  assert.equal(await failed(), 2);
  assert.deepEqual(
    told.filter((line) => line.includes(first)).length,
    1,
    'the damage is told once',
  );
  const [line] = told.filter((each) => each.includes(first));
  assert.match(line ?? '', /"table":"d.damaged"/);
  assert.match(line ?? '', /"minTime":"1970-01-01T00:00:00.000Z"/);
  assert.match(line ?? '', /--repair/);
});
