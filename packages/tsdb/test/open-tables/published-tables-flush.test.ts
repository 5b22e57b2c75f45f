// Source: docs/OPEN-TABLES.md, "Settings": rows of published tables are flushed earlier; others are not affected.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { TestNode } from '#src/testing/open-test-node.js';
import { TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';
import { publishedFolder } from './published-node.js';

async function writeTo(node: TestNode, database: string): Promise<void> {
  await node.engine.write({
    ...{ database, body: Buffer.from('m v=1i 1'), access: FULL_ACCESS, encoding: 'identity' },
    ...{ maxSizeBytes: 1000, precision: 'nanosecond', acceptPartial: false, noSync: false },
    receivedNs: 0n,
  });
}
const fileCount = (node: TestNode, database: string): number => {
  const schema = node.catalog.database(database)?.tables.get('m');
  return schema === undefined ? 0 : node.facts.storageOf(schema).segments.length;
};

it('flushes only published tables at their age, and the others at the usual age', async (context) => {
  const { start, clock } = await publishedFolder(context);
  const node = await start({ 'open-tables-flush-age-ms': '60000' });
  await writeTo(node, 'other');
  await writeLines(node, ['m v=1i 1']);
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second++) {
      await clock.advanceMs(1000);
      while (node.engine.background.flusher.state.running !== undefined) await sleep(5);
    }
  };
  await seconds(58);
  assert.deepEqual([fileCount(node, TEST_DATABASE), fileCount(node, 'other')], [0, 0]);
  await seconds(5);
  assert.deepEqual([fileCount(node, TEST_DATABASE), fileCount(node, 'other')], [1, 0]);
  await writeLines(node, ['m v=2i 2']);
  await seconds(63);
  assert.deepEqual([fileCount(node, TEST_DATABASE), fileCount(node, 'other')], [2, 0]);
  await seconds(600 - 126 + 3);
  assert.equal(fileCount(node, 'other'), 1, 'the age counts from its own first row');
});
