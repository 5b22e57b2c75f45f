import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Metrics } from '@plinth/kernel';
import { caseCount, temporaryFolder } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, writeLines } from '#src/testing/write-and-query.js';

/** DuckDB runs all statements with a comment, because their literals are not recognized. */
const BY_DUCKDB = ' -- by DuckDB';
const SECOND = 1_000_000_000n;
const START = 1_700_000_000n * SECOND;

interface Row {
  readonly table: string;
  readonly host: string | undefined;
  readonly region: string | undefined;
  readonly time: bigint;
  readonly fields: Readonly<Record<string, string>>;
}

const fieldsArb = fc
  .record(
    {
      i: fc
        .oneof(fc.integer({ min: -9, max: 99 }), fc.constantFrom(40_000, -3_000_000_000))
        .map((v) => `${v}i`),
      u: fc.constantFrom('0u', '7u', '300u', '9007199254740991u'),
      // Multiples of a quarter have exact sums in any order.
      f: fc.integer({ min: -400, max: 400 }).map((v) => String(v / 4)),
      g: fc.oneof(
        {
          weight: 9,
          arbitrary: fc
            .double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
            .map(String),
        },
        // Beyond the range of doubles, so they become infinities.
        { weight: 1, arbitrary: fc.constantFrom('1e400', '-1e400') },
      ),
      b: fc.constantFrom('true', 'false'),
      s: fc.constantFrom('"x"', '"ä long text beyond twelve bytes"'),
    },
    { requiredKeys: [] },
  )
  .filter((fields) => Object.keys(fields).length > 0);

const timeArb = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.integer({ min: 0, max: 720 }).map((k) => START + BigInt(k) * 10n * SECOND),
  },
  { weight: 1, arbitrary: fc.bigInt(START, START + 7200n * SECOND) },
);

const rowArb: fc.Arbitrary<Row> = fc.record({
  table: fc.constantFrom('once', 'once', 'again'),
  host: fc.constantFrom('a', 'b', 'c', 'é', undefined),
  region: fc.constantFrom('eu', 'us', undefined),
  time: timeArb,
  fields: fieldsArb,
});

type Step =
  | { readonly kind: 'write'; readonly rows: readonly Row[] }
  | { readonly kind: 'restart' };

const stepsArb: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .array(rowArb, { minLength: 1, maxLength: 60 })
        .map((rows) => ({ kind: 'write' as const, rows })),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  ),
  { minLength: 2, maxLength: 8 },
);

const isoOf = (timeNs: bigint): string =>
  `${new Date(Number(timeNs / 1_000_000n)).toISOString().slice(0, -1)}${String(timeNs % 1_000_000n).padStart(6, '0')}Z`;

const timeTextArb = timeArb.map((time) => `'${isoOf(time)}'`);
const conditionArb = fc.oneof(
  timeTextArb.map((time) => `time >= ${time}`),
  timeTextArb.map((time) => `time < ${time}`),
  fc.tuple(timeTextArb, timeTextArb).map(([a, b]) => `time BETWEEN ${a} AND ${b}`),
  fc.constantFrom(
    "host = 'a'",
    "host IN ('a', 'c', 'none')",
    "(host = 'b' OR host = 'é')",
    "host <> 'a'",
    "host NOT IN ('a', 'b')",
    "region = 'eu'",
    'i > 40',
    'i <= -9',
    'f >= 0.5',
    '10 < i',
    'u = 7',
    'g <> 0',
    "time > now() - INTERVAL '100 days'",
    "time > now() - '100 days'::INTERVAL",
    `time >= ${START} AND time < ${START + 3600n * SECOND}`,
    'i BETWEEN -2 AND 7 * 9',
    "'a' <> host",
    "time >= '2023-11-14T22:13:20Z' AND time < '2023-11-14T23:00:00Z'",
  ),
);
const whereArb = fc
  .array(conditionArb, { maxLength: 3 })
  .map((conditions) => (conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`));
const aggregateArb = fc.constantFrom(
  'count(*)',
  'count(i)',
  'count(b)',
  'count(time)',
  'min(i)',
  'max(i)',
  'sum(i)',
  'avg(i)',
  'max(u)',
  'sum(f)',
  'avg(f)',
  'min(g)',
  'max(g)',
  'mean(f)',
);
const strideArb = fc.constantFrom(
  '1 minute',
  '10 seconds',
  '7 minutes',
  '1 hour',
  '3 days',
  '1500 milliseconds',
);
const directionArb = fc.constantFrom('', ' DESC', ' ASC');
const tableArb = fc.constantFrom('once', 'again');

/** Statements, with a flag that shows whether the order of their rows is defined. */
const groupsArb = fc
  .record({
    table: tableArb,
    where: whereArb,
    stride: fc.option(strideArb, { nil: undefined }),
    tags: fc.subarray(['host', 'region']),
    aggregates: fc.uniqueArray(aggregateArb, { minLength: 1, maxLength: 4 }),
    directions: fc.array(directionArb, { minLength: 3, maxLength: 3 }),
    isTagFirst: fc.boolean(),
    limit: fc.constantFrom('', ' LIMIT 3', ' LIMIT 2 OFFSET 1'),
    order: fc.constantFrom('none', 'full'),
  })
  .map((q) => {
    const bucket = q.stride === undefined ? [] : ['bucket'];
    const keys = q.isTagFirst ? [...q.tags, ...bucket] : [...bucket, ...q.tags];
    const list = [
      ...(q.stride === undefined ? [] : [`date_bin(INTERVAL '${q.stride}', time) AS bucket`]),
      ...q.tags,
      ...q.aggregates.map((aggregate, i) => `${aggregate} AS v${i}`),
    ];
    const isOrdered = q.order === 'full' && keys.length > 0;
    const orderBy = keys.map((key, i) => `${key}${q.directions[i]}`).join(', ');
    return {
      text:
        `SELECT ${list.join(', ')} FROM ${q.table}${q.where}` +
        (keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`) +
        (isOrdered ? ` ORDER BY ${orderBy}${q.limit}` : ''),
      isOrdered,
    };
  });

/** Sorted by some of the group keys in any order; rows with equal keys have no defined order. */
const partlyOrderedArb = fc
  .record({
    table: tableArb,
    where: whereArb,
    stride: strideArb,
    keys: fc.shuffledSubarray(['bucket', 'host', 'region'], { minLength: 2, maxLength: 2 }),
    directions: fc.array(directionArb, { minLength: 2, maxLength: 2 }),
    aggregate: aggregateArb,
  })
  .map(({ table, where, stride, keys, directions, aggregate }) => {
    const others = ['bucket', 'host', 'region'].filter((key) => !keys.includes(key));
    const list = [...keys, ...others].map((key) =>
      key === 'bucket' ? `date_bin(INTERVAL '${stride}', time) AS bucket` : key,
    );
    const orderBy = keys.map((key, i) => `${key}${directions[i]}`).join(', ');
    return {
      text: `SELECT ${list.join(', ')}, ${aggregate} AS v FROM ${table}${where} GROUP BY bucket, host, region ORDER BY ${orderBy}`,
      isOrdered: false,
      orderedColumns: keys.length,
    };
  });

/** Sums of arbitrary doubles, one series at a time. */
const seriesSumsArb = fc.record({ table: tableArb, where: whereArb }).map(({ table, where }) => ({
  text: `SELECT host, region, sum(g) AS s, avg(g) AS m FROM ${table}${where} GROUP BY host, region ORDER BY host, region`,
  isOrdered: true,
}));

const rowsArb = fc
  .record({
    table: tableArb,
    where: whereArb,
    list: fc.constantFrom('*', 'time, host, i, f', 'region, g, time, u, b', 'i', 't.i, t.time'),
    direction: fc.constantFrom('', ' ORDER BY time', ' ORDER BY time DESC'),
  })
  .map((q) => ({
    text: `SELECT ${q.list} FROM ${q.table} AS t${q.where}${q.direction}`,
    isOrdered: false,
  }));

const lastArb = fc
  .record({
    table: tableArb,
    list: fc.constantFrom('*', 'host, region, time, i', 'i, g, region, host'),
    bound: fc.oneof(
      fc.constant(''),
      timeTextArb.map((time) => ` WHERE time <= ${time}`),
      timeTextArb.map((time) => ` WHERE time >= ${time}`),
      fc.constant(" WHERE region = 'eu'"),
    ),
  })
  .map((q) => ({
    text: `SELECT DISTINCT ON (host, region) ${q.list} FROM ${q.table}${q.bound} ORDER BY host, region, time DESC`,
    isOrdered: true,
  }));

interface Question {
  readonly text: string;
  readonly isOrdered: boolean;
  /** Number of leading columns with a defined order. */
  readonly orderedColumns?: number;
}

const queryArb: fc.Arbitrary<Question> = fc.oneof(
  { weight: 4, arbitrary: groupsArb },
  { weight: 4, arbitrary: partlyOrderedArb },
  { weight: 1, arbitrary: seriesSumsArb },
  { weight: 2, arbitrary: rowsArb },
  { weight: 2, arbitrary: lastArb },
);

/** Points in `once` are written once; `again` has points that are written repeatedly. */
function linesOf(rows: readonly Row[], written: Set<string>): string[] {
  return rows.flatMap((row) => {
    const tags = [row.host && `,host=${row.host}`, row.region && `,region=${row.region}`]
      .filter(Boolean)
      .join('');
    const key = `${tags} ${row.time}`;
    if (row.table === 'once' && written.has(key)) return [];
    if (row.table === 'once') written.add(key);
    // Strings cannot be kept in memory as columns: only one of the tables has some.
    const fields = Object.entries(row.fields).filter(
      ([name]) => row.table === 'again' || name !== 's',
    );
    if (fields.length === 0) return [];
    return [
      `${row.table}${tags} ${fields.map(([name, value]) => `${name}=${value}`).join()} ${row.time}`,
    ];
  });
}

/** Tables with every column, so that every statement can be bound. */
const FIRST_LINES = ['once', 'again'].flatMap((table) => [
  `${table},host=a,region=eu i=1i,u=1u,f=1,g=0.1,b=true ${START - SECOND}`,
  `${table},host=b i=2i ${START - SECOND}`,
]);

const ALL_RUNS = 12;
const RUNS = caseCount(ALL_RUNS);

describe('columns in memory', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
  });

  it('returns the same results as DuckDB', { timeout: 240_000 }, async () => {
    let columnQueryCount = 0;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        stepsArb,
        fc.array(queryArb, { minLength: 10, maxLength: 20 }),
        async (steps, queries) => {
          const dir = join(folder, String(count++));
          let metrics = new Metrics();
          let node = await openTestNode(dir, { metrics, cachedRangeRows: 16 });
          const answered = async (): Promise<number> => {
            const [, value] =
              /plinth_tsdb_direct_queries_total (\d+)/.exec((await metrics.page()).text) ?? [];
            return Number(value);
          };
          const written = new Set<string>();
          try {
            await node.catalog.ensureDatabase('d');
            await writeLines(node, FIRST_LINES);
            for (const [place, step] of steps.entries()) {
              if (step.kind === 'restart') {
                await node.close();
                metrics = new Metrics();
                node = await openTestNode(dir, { metrics, cachedRangeRows: 16 });
              } else await writeLines(node, linesOf(step.rows, written));
              const isLast = place === steps.length - 1;
              for (const test of isLast ? queries : queries.slice(0, 3)) {
                const expected = await query(node, test.text + BY_DUCKDB);
                const before = await answered();
                // Missing columns are loaded after the first or second query.
                for (let attempt = 0; attempt < 8; attempt++) {
                  const actual = await query(node, test.text);
                  const [a, b] = test.isOrdered
                    ? [actual, expected]
                    : [actual.toSorted(), expected.toSorted()];
                  assert.deepEqual(a, b, test.text);
                  const { orderedColumns = 0 } = test;
                  const keysOf = (row: string) => row.split(' | ').slice(0, orderedColumns);
                  assert.deepEqual(actual.map(keysOf), expected.map(keysOf), test.text);
                  if ((await answered()) > before) {
                    columnQueryCount++;
                    break;
                  }
                  await setTimeout(attempt);
                }
              }
            }
          } finally {
            await node.close();
            await rm(dir, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: RUNS },
    );
    // A few runs may find few statements that memory can serve.
    const least = RUNS < ALL_RUNS ? 1 : 50;
    assert.ok(columnQueryCount > least, `only ${columnQueryCount} answers came from memory`);
  });

  it('sorts buckets across groups that have equal sort keys', async () => {
    const dir = join(folder, 'across');
    const node = await openTestNode(dir, { metrics: new Metrics(), cachedRangeRows: 16 });
    try {
      await node.catalog.ensureDatabase('d');
      const hour = 3600n * SECOND;
      const lines = [0n, 1n].flatMap((k) =>
        ['x', 'y'].map((region) => `once,host=a,region=${region} f=${k} ${START + k * hour}`),
      );
      await writeLines(node, lines);
      const order = ['host, bucket', 'host, bucket DESC', 'region, bucket', 'bucket, region'];
      for (const keys of order) {
        const text = `SELECT date_bin(INTERVAL '1 hour', time) AS bucket, region, host, min(f) AS v FROM once GROUP BY bucket, region, host ORDER BY ${keys}`;
        for (let attempt = 0; attempt < 8; attempt++) {
          const [, ...rows] = await query(node, text);
          const values = rows.map((row) => row.split(' | ').at(-1)).join(' ');
          const wanted = {
            'host, bucket DESC': '1.0 1.0 0.0 0.0',
            'region, bucket': '0.0 1.0 0.0 1.0',
          };
          assert.equal(values, Reflect.get(wanted, keys) ?? '0.0 0.0 1.0 1.0', keys);
        }
      }
    } finally {
      await node.close();
    }
  });
});
