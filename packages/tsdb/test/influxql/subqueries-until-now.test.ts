// Source: query-languages, section 10.5. Uses a stopped clock.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import { seriesOf } from '@plinth/tsdb-influxql/result.js';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2017, 0, 1);
/** In the tenth daily bucket. */
const NOW_MS = FIRST_MS + 9.5 * DAY_MS;

let node: TestNode;
const dataDir = await temporaryFolder();
before(async () => {
  node = await openTestNode(dataDir, { clock: new ManualClock(NOW_MS) });
  await node.catalog.ensureDatabase(TEST_DATABASE);
  const lines = [`m v=1 ${FIRST_MS}`, `two v=1 ${FIRST_MS}`, `two v=9 ${FIRST_MS + 4 * DAY_MS}`];
  const later = `ahead v=1 ${FIRST_MS}\nahead v=1 ${NOW_MS + 3 * DAY_MS}`;
  await writeLines(node, [...lines, later], 'millisecond');
});
after(() => node.close());

async function values(text: string, dialect: 'v1' | 'native'): Promise<unknown[]> {
  const run = await node.influxql.open({
    ...{ text, dialect, database: TEST_DATABASE, access: FULL_ACCESS, policy: undefined },
    params: new Map(),
    signal: new AbortController().signal,
  });
  const found: unknown[] = [];
  for await (const { columns } of seriesOf(await run.execute(0)))
    found.push(...Array.from(columns[1] ?? [], Number));
  run.end('success');
  return found;
}

const DAYS = 'SELECT count(v) AS c FROM m GROUP BY time(1d)';
const CASES: Readonly<Record<string, readonly number[]>> = {
  'SELECT count(c) FROM (SELECT count(v) AS c FROM m GROUP BY time(365d) fill(0))': [1],
  [`SELECT count(c) FROM (${DAYS} fill(0))`]: [10],
  [`SELECT sum(c) FROM (${DAYS} fill(7))`]: [1 + 9 * 7],
  [`SELECT sum(c) FROM (${DAYS} fill(previous))`]: [10],
  'SELECT sum(c) FROM (SELECT mean(v) AS c FROM two GROUP BY time(1d) fill(linear))': [25],
  [`SELECT count(c) FROM (${DAYS})`]: [1],
  [`SELECT c FROM (${DAYS} fill(0))`]: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  [`SELECT derivative(c, 1d) FROM (${DAYS} fill(0))`]: [-1, 0, 0, 0, 0, 0, 0, 0, 0],
  [`SELECT cumulative_sum(c) FROM (${DAYS} fill(1)) LIMIT 100`]: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  [`SELECT count(x) FROM (SELECT c AS x FROM (${DAYS} fill(0)))`]: [10],
  [`SELECT count(c) FROM (${DAYS} fill(0)) GROUP BY time(100d)`]: [10],
  // Another time bound, inside or outside.
  [`SELECT count(c) FROM (${DAYS} fill(0)) WHERE time < '2017-01-05'`]: [4],
  [`SELECT count(c) FROM (${DAYS} fill(0)) WHERE time < '2017-02-01'`]: [10],
  "SELECT count(c) FROM (SELECT count(v) AS c FROM m WHERE time < '2017-01-13' GROUP BY time(1d) fill(0))":
    [12],
  // Without its own buckets a subquery has no such bound; within the outer statement's buckets,
  // their bound applies.
  'SELECT count(x) FROM (SELECT v AS x FROM ahead)': [2],
  'SELECT count(x) FROM (SELECT v AS x FROM ahead) GROUP BY time(100d)': [1],
  'SELECT sum(c) FROM (SELECT count(v) AS c FROM ahead GROUP BY time(1d))': [1],
};

describe('a subquery with buckets and no upper bound ends at now, like a statement', () => {
  for (const [text, expected] of Object.entries(CASES)) {
    for (const dialect of ['v1', 'native'] as const) {
      it(`${dialect}: ${text}`, async () => {
        assert.deepEqual(await values(text, dialect), expected);
      });
    }
  }
});
