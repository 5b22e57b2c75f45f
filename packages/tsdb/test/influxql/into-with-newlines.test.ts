// Source: tsdb-http, "Names and tag values": an escaped newline is part of a name.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

let node: TestNode;
before(async () => {
  node = await openTestNode(await temporaryFolder());
  await node.catalog.ensureDatabase(TEST_DATABASE);
});
after(() => node.close());

it('writes a tag value with a newline to its own series, never as another line', async () => {
  // The rest of the line after the newline would be a valid line of the table `other`.
  await writeLines(node, ['m,h=a\\\nother f=2 1', 'm,h=c\\\td f=3 2']);
  const { results } = JSON.parse(
    await queryInfluxql(node, 'SELECT sum(f) AS f INTO copy FROM m GROUP BY *'),
  ) as { results: { error?: string; series?: { values: unknown[][] }[] }[] };
  assert.deepEqual(results[0]?.series?.[0]?.values[0]?.[1], 2, JSON.stringify(results));
  const tables = [...(node.catalog.database(TEST_DATABASE)?.tables.keys() ?? [])];
  assert.deepEqual(tables.sort(), ['copy', 'm']);
});
