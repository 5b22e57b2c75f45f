// Source: query-languages, "Guards" (values held in memory) and "SHOW statements: results".
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

const LIMIT = 10_000;
const REFUSAL = new RegExp(`"error":"[^"]*query buffers more than ${LIMIT} values in memory`);

let node: TestNode;
before(async () => {
  const flags = { 'tsdb-max-held-values': String(LIMIT) };
  node = await openTestNode(await temporaryFolder(), { flags });
  await node.catalog.ensureDatabase(TEST_DATABASE);
  const write = (count: number, line: (i: number) => string) =>
    writeLines(
      node,
      Array.from({ length: count }, (_, i) => line(i)),
    );
  for (const name of ['a', 'b']) await write(6000, (i) => `${name},host=h${i} v=1 ${i + 1}`);
  await write(10_001, (i) => `c,rack=r${i} v=1 ${i + 1}`);
  // About 60,000 characters per key, most of them in tag values shared by the series.
  const shared = Array.from({ length: 6 }, (_, i) => `,t${i}=${'x'.repeat(10_000)}`).join('');
  await write(60, (i) => `m${shared},z=${i} v=1 1`);
});
after(() => node.close());

it('refuses the values of one tag', async () => {
  const q = 'SHOW TAG VALUES FROM c WITH KEY = rack';
  assert.match(await queryInfluxql(node, q), REFUSAL);
  assert.match(await queryInfluxql(node, `${q} LIMIT 1`), /\["rack","r0"\]/);
});

it('holds the values of one measurement at a time', async () => {
  const text = await queryInfluxql(node, 'SHOW TAG VALUES FROM a, b WITH KEY = host');
  assert.equal(text.match(/"host"/g)?.length, 12_000);
});

it('counts the characters of series keys', async () => {
  const q = 'SHOW SERIES FROM m';
  for (const rest of ['', ' LIMIT 5']) assert.match(await queryInfluxql(node, q + rest), REFUSAL);
  assert.match(await queryInfluxql(node, `${q} LIMIT 1`), /,z=0"/);
  assert.match(await queryInfluxql(node, `${q} WHERE z = '7'`), /,z=7"/);
});
