// Rows of all series, each of which is its own group, in results that are read in several slices.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { queryInfluxql, writeLines } from '#src/testing/write-and-query.js';

const HOSTS = ['a', 'b', ''];

/** A node that has read none of its rows yet, so that it does not know their size. */
async function openWith(
  context: TestContext,
  rowCount: number,
  lineOf: (host: string, row: number) => string,
) {
  const dataDir = await temporaryFolder();
  const flags = { 'tsdb-column-cache-bytes': '1' };
  let node = await openTestNode(dataDir, { flags });
  context.after(() => node.close());
  for (let from = 0; from < rowCount; from += 5000) {
    const rows = Array.from({ length: Math.min(5000, rowCount - from) }, (_, i) => from + i);
    await writeLines(
      node,
      HOSTS.flatMap((host) => rows.map((row) => lineOf(host, row))),
    );
  }
  await flushEngine(node.engine);
  await node.close();
  node = await openTestNode(dataDir, { flags });
  return async (text: string) => {
    const { results } = JSON.parse(await queryInfluxql(node, text)) as {
      results: { series: { tags: { host: string }; values: unknown[][] }[] }[];
    };
    return results[0]?.series.map(({ tags, values }) => [tags.host, values.length, values[0]?.[1]]);
  };
}

it('returns each series once, with strings of unknown size', async (context) => {
  const select = await openWith(context, 20, (host, row) => {
    const tags = host === '' ? 'm' : `m,host=${host}`;
    return `${tags} s="${host}-${'x'.repeat(50)}" ${row}`;
  });
  const expected = ['', 'a', 'b'].map((host) => [host, 20, `${host}-${'x'.repeat(50)}`]);
  assert.deepEqual(await select('SELECT s FROM m GROUP BY *'), expected);
  assert.deepEqual(await select('SELECT s FROM m GROUP BY * ORDER BY time DESC'), expected);
});

it('returns and aggregates each series once, with more rows than one slice has', async (context) => {
  const select = await openWith(context, 100_000, (host, row) => {
    const tags = host === '' ? 'm' : `m,host=${host}`;
    return `${tags} v=${row}.5 ${row}`;
  });
  assert.deepEqual(
    await select('SELECT v FROM m GROUP BY *'),
    ['', 'a', 'b'].map((host) => [host, 100_000, 0.5]),
  );
  assert.deepEqual(
    await select('SELECT difference(v) FROM m GROUP BY *'),
    ['', 'a', 'b'].map((host) => [host, 99_999, 1]),
  );
});
