// Every external call of the storage can be made to fail, and works again afterwards.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CallFaults, ManualClock, RELATIONAL_CALLS, temporaryFolder } from '@plinth/kernel/testing';
import type { DuckDbCall } from '@plinth/tsdb-storage/duckdb/instance/duckdb-watch.js';
import { flushNode } from './flush-node.js';
import { openTestNode } from './open-test-node.js';
import { query, writeLines } from './write-and-query.js';

const KINDS: readonly string[] = [
  ...RELATIONAL_CALLS,
  'object.adopt',
  'object.get',
  'object.list',
  'object.delete',
  ...([
    'duckdb.write',
    'duckdb.copy',
    'duckdb.query',
    'duckdb.fetch',
    'duckdb.append',
    'duckdb.flush',
  ] satisfies DuckDbCall[]),
];

it('counts every kind of call of a node that writes, flushes, merges, queries and restarts', async (context) => {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const clock = new ManualClock();
  const open = () =>
    openTestNode(dataDir, { clock, faults, flags: { 'tsdb-column-cache-bytes': '0' } });
  let node = await open();
  for (let i = 0; i < 8; i++) {
    await writeLines(node, [`m,t=a v=${i}i ${i}`]);
    await flushNode(node);
  }
  await node.close();
  node = await open();
  context.after(() => node.close());
  await writeLines(node, ['m,t=b v=0i 9']); // reads the series from their file
  assert.deepEqual(await query(node, 'SELECT count(v), sum(v) FROM m'), [
    'count(m.v) | sum(m.v)',
    '9 | 28',
  ]);
  assert.deepEqual(
    KINDS.filter((kind) => !faults.counts.has(kind)),
    [],
  );
});
