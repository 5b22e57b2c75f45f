// Regression test: a start treated every failed read of a stored file as damage, so a start with an
// unavailable object store gave up series files, and a repair removed intact segments.
import assert from 'node:assert/strict';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { asOutage, StoreOutage } from '@plinth/kernel';
import { CallFaults, ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { flushNode } from '#src/testing/flush-node.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

const TIMED_OUT = Object.assign(new Error('no response after 10000 ms'), { code: 'ETIMEDOUT' });

/** A closed folder with two segments of one table; `start` opens it with `faults`. */
async function storedRows(context: TestContext) {
  const dataDir = await temporaryFolder();
  const faults = new CallFaults();
  let running: TestNode | undefined;
  const start = async (flags: Readonly<Record<string, string>> = {}): Promise<TestNode> => {
    running = await openTestNode(dataDir, { clock: new ManualClock(), faults, flags });
    return running;
  };
  const stop = async (): Promise<void> => {
    await running?.close();
    running = undefined;
  };
  context.after(() => stop());
  const node = await start();
  await writeLines(node, ['m,host=a v=1i 1', 'm,host=b v=2i 86400000000000']);
  const names = await flushNode(node);
  await stop();
  // Files with another modification time are read completely before the first query of them.
  for (const name of names) await utimes(join(dataDir, 'objects', name), new Date(), new Date(0));
  return { start, stop, faults };
}

const rows = (node: TestNode): Promise<string[]> => query(node, 'SELECT host, v FROM m ORDER BY v');
const STORED = ['host | v', 'a | 1', 'b | 2'];

for (const flags of [{}, { 'tsdb-repair': 'true' }]) {
  it(`keeps all files when a start with ${JSON.stringify(flags)} cannot read them`, async (context) => {
    const { start, faults } = await storedRows(context);
    faults.fail({ kind: 'object.get', count: Number.POSITIVE_INFINITY, error: TIMED_OUT });
    await assert.rejects(start(flags), (error: unknown) => {
      assert.ok(error instanceof StoreOutage, String(error));
      assert.match(error.message, /cannot be read \(the store reports ETIMEDOUT\); check the disk/);
      return true;
    });
    faults.heal();
    assert.deepEqual(await rows(await start()), STORED);
  });
}

it('reports an outage to a query, and reads the rows when the store is back', async (context) => {
  const { start, faults } = await storedRows(context);
  const node = await start({ 'tsdb-column-cache-bytes': '0' });
  faults.fail({ kind: 'object.get', count: Number.POSITIVE_INFINITY, error: TIMED_OUT });
  await assert.rejects(rows(node), (error: unknown) => asOutage(error) instanceof StoreOutage);
  faults.heal();
  assert.deepEqual(await rows(node), STORED);
});
