// Source: query-languages, "Guards": running out of memory is reported as such, wherever it
// happens.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { TableColumnQueries } from '@plinth/tsdb-engine/table/table-column-queries.js';
import { TableStore } from '@plinth/tsdb-engine/table/table-store.js';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { openTestNode } from '#src/testing/open-test-node.js';

const LINES = 'm,t=a v=1i 1\nm,t=a v=2i 2';
const EXHAUSTED = 'Resources exhausted: the query exceeds the memory limit of the server';

it('reports a DuckDB failure before the first row like any other', async (t) => {
  const dataDir = await temporaryFolder();
  const node = await openTestNode(dataDir);
  await node.engine.write({
    database: 'db',
    body: Buffer.from(LINES),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 1_000_000,
    precision: 'nanosecond',
    acceptPartial: false,
    noSync: false,
    receivedNs: 3n,
  });
  const { signal } = new AbortController();
  const ask = (text: string) =>
    node.engine.query({
      database: 'db',
      access: FULL_ACCESS,
      language: 'sql',
      text,
      params: new Map(),
      signal,
    });
  const fail = () => Promise.reject(new Error('Out of Memory Error: could not allocate block'));
  t.mock.method(TableColumnQueries.prototype, 'compute', fail);
  t.mock.method(TableStore.prototype, 'prepareScan', fail);
  for (const text of [
    'SELECT max(v) FROM m',
    'SELECT DISTINCT ON (t) * FROM m ORDER BY t, time DESC',
  ]) {
    await assert.rejects(ask(text), { message: EXHAUSTED });
  }
  t.mock.restoreAll();
  await node.close();
});
