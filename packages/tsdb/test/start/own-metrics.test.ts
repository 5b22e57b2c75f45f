// Expected behavior: tsdb-http, "System tables and information_schema": `_internal` shows the
// server's own metrics.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { renderResult } from '#src/testing/render-result.js';

const clock = new ManualClock();
let node: OpenTsdb;
const dataDir = await temporaryFolder();
before(async () => {
  const flags = { 'tsdb-internal-metrics-interval-ms': '10000' };
  node = await openTestNode(dataDir, { clock, flags });
});
after(() => node.close());

async function ask(text: string): Promise<string[]> {
  const { signal } = new AbortController();
  const query = {
    database: '_internal',
    access: FULL_ACCESS,
    language: 'sql',
    text,
    params: new Map(),
    signal,
  } as const;
  return (await renderResult(await node.engine.query(query))).slice(1);
}

it('Y-01 writes the metrics of the server into its own database, at every interval', async () => {
  await clock.advanceMs(10_000);
  await node.recorder.record();
  const times = 'SELECT count(DISTINCT time) FROM metrics WHERE plinth_tsdb_segments IS NOT NULL';
  assert.deepEqual(await ask(times), ['1']);
  await clock.advanceMs(10_000);
  await node.recorder.record();
  assert.deepEqual(await ask(times), ['2']);
  const [labelled] = await ask(
    "SELECT node, plinth_tsdb_caches FROM metrics WHERE kind = 'last' ORDER BY time LIMIT 1",
  );
  assert.equal(labelled, 'node0 | 0.0');
});

it('Y-01 rejects client writes there', async () => {
  const write = node.engine.write({
    database: '_internal',
    body: Buffer.from('metrics v=1'),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 1000,
    precision: 'nanosecond',
    acceptPartial: true,
    noSync: false,
    receivedNs: clock.nowNs(),
  });
  await assert.rejects(write, { kind: 'internal_database' });
});
