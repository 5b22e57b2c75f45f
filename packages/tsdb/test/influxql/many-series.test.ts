// Compares lists of more series than are sorted in one step with lists computed here.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { queryInfluxql, TEST_DATABASE } from '#src/testing/write-and-query.js';

const SERIES_COUNT = 5000;

let dataDir = '';
let node: TestNode;
/** Series in line protocol form; by table and policy. */
const keys = new Set<string>();
const values = new Map<string, Set<string>>();

before(async () => {
  dataDir = await temporaryFolder();
  node = await openTestNode(dataDir);
  await node.catalog.ensureDatabase(TEST_DATABASE);
  await node.catalog.ensureDatabase(`${TEST_DATABASE}/rp`);
  await write(TEST_DATABASE, 0, SERIES_COUNT);
  // Half of these are in the other policy as well.
  await write(`${TEST_DATABASE}/rp`, SERIES_COUNT / 2, SERIES_COUNT * 1.5);
});
after(() => node.close());

/** Names with the comma and the space that end a name in line protocol, and optional tags. */
async function write(database: string, from: number, to: number): Promise<void> {
  const lines: string[] = [];
  for (let i = from; i < to; i++) {
    const name = ['m', 'm!', 'm\\ x', 'm-1'][i % 4] as string;
    const u = `u${(i * 7919) % 100_003}`;
    const a = i % 3 === 0 ? '' : `,a=${['x', 'x\\ y', 'x\\,', '\u{1f600}', '\uffee'][i % 5]}`;
    lines.push(`${name}${a},u=${u} v=${i}i ${i}`);
    keys.add(`${name}${a},u=${u}`);
    const known = values.get(name) ?? new Set();
    values.set(name, known.add(u));
  }
  const { refused } = await node.engine.write({
    database,
    body: Buffer.from(lines.join('\n')),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 10_000_000,
    precision: 'nanosecond',
    acceptPartial: false,
    noSync: false,
    receivedNs: 0n,
  });
  assert.deepEqual(refused, []);
}

const inOrder = (texts: Iterable<string>): string[] =>
  [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

async function rows(text: string): Promise<unknown[]> {
  const { results } = JSON.parse(await queryInfluxql(node, text)) as {
    results: { series?: { values: unknown[][] }[]; error?: string }[];
  };
  assert.equal(results[0]?.error, undefined);
  return results[0]?.series?.flatMap((series) => series.values) ?? [];
}

const BOUNDS = [
  { clause: '', from: 0, to: undefined },
  { clause: ' LIMIT 0', from: 0, to: undefined },
  { clause: ' LIMIT 1', from: 0, to: 1 },
  { clause: ' LIMIT 7 OFFSET 3', from: 3, to: 10 },
  { clause: ' LIMIT 3000 OFFSET 2000', from: 2000, to: 5000 },
  { clause: ' LIMIT 10000 OFFSET 1', from: 1, to: 10_001 },
  { clause: ' OFFSET 7000', from: 7000, to: undefined },
  { clause: ' LIMIT 5 OFFSET 100000', from: 100_000, to: 100_005 },
];

describe('SHOW SERIES over several tables and policies', () => {
  for (const { clause, from, to } of BOUNDS) {
    it(`lists each series once, in byte order${clause}`, async () => {
      const expected = inOrder(keys).slice(from, to);
      assert.deepEqual(
        await rows(`SHOW SERIES${clause}`),
        expected.map((key) => [key]),
      );
    });
  }

  it('filters by time, value, and presence of a tag', async () => {
    const check = async (condition: string, isMet: (i: number) => boolean): Promise<void> => {
      const found = new Set<string>();
      for (let i = 0; i < SERIES_COUNT * 1.5; i++) if (isMet(i)) found.add([...keys][i] as string);
      const expected = inOrder(found).map((key) => [key]);
      assert.deepEqual(await rows(`SHOW SERIES WHERE ${condition}`), expected, condition);
    };
    await check('time >= 100 AND time < 4000', (i) => i >= 100 && i < 4000);
    await check('v > 6000', (i) => i > 6000);
    await check("a = ''", (i) => i % 3 === 0);
    await check("a = 'x,'", (i) => i % 3 !== 0 && i % 5 === 2);
    await check('a =~ /^x/ AND v < 50', (i) => i % 3 !== 0 && i % 5 < 3 && i < 50);
  });

  it('counts them once', async () => {
    assert.deepEqual(await rows('SHOW SERIES CARDINALITY'), [[keys.size]]);
    const users = inOrder(values.keys()).map((name) => [values.get(name)?.size]);
    assert.deepEqual(await rows('SHOW TAG VALUES CARDINALITY WITH KEY = u'), users);
  });
});

describe('SHOW TAG VALUES over several tables and policies', () => {
  for (const { clause, from, to } of BOUNDS) {
    it(`lists each value of a table once, in byte order${clause}`, async () => {
      const names = inOrder([...values.keys()].map((name) => name.replaceAll('\\', '')));
      const expected = names.flatMap((name) =>
        inOrder(values.get(name.replace(' ', '\\ ')) ?? [])
          .slice(from, to)
          .map((value) => ['u', value]),
      );
      assert.deepEqual(await rows(`SHOW TAG VALUES WITH KEY = u${clause}`), expected);
    });
  }
});
