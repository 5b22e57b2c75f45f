// Source: docs/adr/0148: requested flushes and merges, including failures.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const ALWAYS = { minTimeNs: MIN_TIME_NS, maxTimeNs: MAX_TIME_NS };

/** A node with a stopped clock: retry delays never end, and only requested work runs. */
async function open(context: TestContext) {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  const node = await openTestNode(dataDir, { clock: new ManualClock(), faults });
  context.after(() => node.close());
  const { storage } = node.engine;
  const tables = (): ReadonlyMap<string, TableSchema> =>
    node.catalog.databases().find(({ name }) => name !== '_internal')?.tables ?? new Map();
  return {
    ...{ dataDir, faults, node, storage },
    table: (name: string): TableSchema => {
      const found = tables().get(name);
      assert.ok(found, name);
      return found;
    },
    idle: async (): Promise<void> => {
      for (let tries = 0; tries < 1000; tries++) {
        const { flush, compaction } = storage.state();
        const isBusy = flush.running ?? compaction.running ?? compaction.waiting[0];
        if (isBusy === undefined) return;
        await sleep(10);
      }
      assert.fail(JSON.stringify(storage.state().compaction));
    },
  };
}

it('reports why a flush failed, and retries immediately on request', async (context) => {
  const { faults, node, storage, idle } = await open(context);
  await writeLines(node, ['m,t=a v=1i 1']);
  faults.fail({ kind: 'object.adopt', at: 1 });
  assert.ok(storage.flushSoon());
  await idle();
  const { flush, bufferedBytes } = storage.state();
  assert.match(flush.last?.error ?? '', /object\.adopt/);
  assert.ok(bufferedBytes > 0);
  assert.ok(storage.flushSoon());
  await idle();
  assert.equal(storage.state().flush.last?.error, undefined);
  assert.equal(storage.state().bufferedBytes, 0);
  assert.deepEqual(await query(node, 'SELECT v FROM m'), ['v', '1']);
});

it('merges readable files beside an unreadable one, and names it', async (context) => {
  const { dataDir, node, storage, table, idle } = await open(context);
  const files: string[] = [];
  for (let i = 0; i < 4; i++) {
    await writeLines(node, [`m,t=a v=${i}i ${i}`]);
    files.push(...(await flushNode(node)).filter((name) => !files.includes(name)));
  }
  const [damaged] = files;
  assert.ok(damaged);
  await writeFile(join(dataDir, 'objects', damaged), 'no file of Parquet');
  assert.ok(storage.compactSoon(table('m'), ALWAYS));
  await idle();
  const { mergeCount, lastFailure } = storage.state().compaction;
  assert.equal(mergeCount, 1);
  assert.equal(lastFailure?.tableId, table('m').id);
  assert.ok(lastFailure?.error.includes(damaged), lastFailure?.error);
  const [, count] = await query(node, 'SELECT count(*) FROM system.parquet_files');
  assert.equal(count, '2');
});

it('queues a limited number of tables, each once', async (context) => {
  const { node, storage, table, idle } = await open(context);
  const names = Array.from({ length: 101 }, (_, index) => `t${index}`);
  await writeLines(
    node,
    names.map((name) => `${name} v=1i 1`),
  );
  const taken = names.map((name) => storage.compactSoon(table(name), ALWAYS));
  assert.deepEqual(taken.indexOf(false), 100);
  assert.ok(storage.compactSoon(table('t0'), ALWAYS), 'it waits already');
  assert.equal(storage.state().compaction.waiting.length, 100);
  await idle();
  assert.ok(storage.compactSoon(table('t100'), ALWAYS));
});
