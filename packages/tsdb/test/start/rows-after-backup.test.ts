// Expected behavior: docs/formats/backup.md, "Consistency": a backup does not change the
// server's data.
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

it('keeps rows whose tags were first written before a backup', async () => {
  const folder = await temporaryFolder();
  const dataDir = join(folder, 'data');
  const node = await openTestNode(dataDir);
  await writeLines(node, ['x,h=a v=1 1000']);
  const frozen = join(folder, 'frozen');
  await mkdir(frozen);
  const { release } = await node.engine.freeze({ copyStore: async () => {}, folder: frozen });
  release();
  await writeLines(node, ['x,h=a v=2 2000']);
  await node.close();
  const again = await openTestNode(dataDir);
  const rows = await query(again, 'SELECT h, v FROM x ORDER BY time');
  await again.close();
  assert.deepEqual(rows, ['h | v', 'a | 1.0', 'a | 2.0']);
});
