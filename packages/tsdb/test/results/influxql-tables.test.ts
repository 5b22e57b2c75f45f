import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import type { TsdbEngine } from '@plinth/tsdb-engine/tsdb-engine.js';
import type { OpenTsdb } from '#src/service.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

let dataDir = '';
let node: OpenTsdb;
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(() => node.close());

const respond = (text: string): Promise<string> => queryInfluxql(node, text);

const tableStore = (name: string) => {
  const schema = node.catalog.database(TEST_DATABASE)?.tables.get(name);
  assert.ok(schema);
  return (node.engine as TsdbEngine).tableStore(schema);
};

describe('a table whose series cannot be read', () => {
  it('fails only the InfluxQL statements that name it', async () => {
    const clock = new ManualClock();
    node = await openTestNode(dataDir, { clock });
    await node.catalog.ensureDatabase(TEST_DATABASE);
    await writeLines(node, ['good,host=a v=1 1', 'bad,host=a v=2 1']);
    await flushEngine(node.engine);
    await node.close();
    // With a stopped clock, only statements read the series.
    node = await openTestNode(dataDir, { clock });
    for (const { file } of tableStore('bad').series.files)
      await rm(join(dataDir, 'objects', file.objectName));

    const sum = (sums: string): string => `{"results":[{"statement_id":0,${sums}}]}\n`;
    const ofGood =
      '"series":[{"name":"good","columns":["time","sum"],"values":[["1970-01-01T00:00:00Z",1]]}]';
    const failed = '"error":"datafusion error: External error: stored data could not be read"';
    assert.equal(await respond('SELECT sum(v) FROM good'), sum(ofGood));
    assert.match(
      await respond('SHOW TAG VALUES FROM good WITH KEY = host'),
      /"values":\[\["host","a"\]\]/,
    );
    assert.match(await respond('SHOW DATABASES'), /\["d"\]/);
    assert.match(await respond('SHOW MEASUREMENTS'), /"values":\[\["bad"\],\["good"\]\]/);
    for (const text of [
      'SELECT sum(v) FROM bad',
      "SELECT v FROM bad WHERE host = 'a'",
      'SELECT sum(v) FROM (SELECT v FROM bad)',
      'SHOW SERIES',
      'SHOW TAG VALUES WITH KEY = host',
      'SHOW SERIES CARDINALITY FROM bad',
      "DELETE FROM bad WHERE host = 'a'",
      'EXPLAIN SELECT sum(v) FROM bad',
    ])
      assert.equal(await respond(text), sum(failed), text);
  });
});

describe('an aggregate that is not served from memory', () => {
  it('tries the rows in memory once', async () => {
    node = await openTestNode(dataDir, { flags: { 'tsdb-column-cache-bytes': '0' } });
    await node.catalog.ensureDatabase(TEST_DATABASE);
    await writeLines(node, ['good,host=a v=1 1', 'good,host=b v=2 1']);
    const { columnQueries } = tableStore('good');
    let askedCount = 0;
    const ask = columnQueries.compute.bind(columnQueries);
    columnQueries.compute = (...about: Parameters<typeof ask>) => {
      askedCount++;
      return ask(...about);
    };
    assert.match(await respond('SELECT sum(v) FROM good GROUP BY host'), /"values":.*"values":/);
    assert.equal(askedCount, 1);
  });
});

describe('Series whose rows were all deleted', () => {
  it('are not listed, even after compaction and a restart', async () => {
    const clock = new ManualClock();
    node = await openTestNode(dataDir, { clock });
    await node.catalog.ensureDatabase(TEST_DATABASE);
    await writeLines(node, ['m,host=a v=1 1', 'm,host=b v=2 2', 'n,host=c v=3 3']);
    await flushEngine(node.engine);
    const engine = node.engine as TsdbEngine;
    const all = { database: TEST_DATABASE, anyOf: [[]] };
    await engine.deleteRows({ ...all, tables: ['m'], minTimeNs: 1n, maxTimeNs: 1n });
    await engine.deleteRows({ ...all, tables: ['n'], minTimeNs: 3n, maxTimeNs: 3n });
    await flushEngine(engine);
    assert.equal(engine.waitingDeletionCount, 0);
    await node.close();
    node = await openTestNode(dataDir, { clock });
    const listed = (columns: string, name: string, value: string): string =>
      `{"results":[{"statement_id":0,"series":[{${name}"columns":["${columns}"],"values":[["${value}"]]}]}]}\n`;
    assert.equal(await respond('SHOW SERIES'), listed('key', '', 'm,host=b'));
    assert.equal(await respond('SHOW MEASUREMENTS'), listed('name', '"name":"measurements",', 'm'));
  });
});
