// Source: query-languages, "fill", on the look-back.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { caseCount, temporaryFolder } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

let node: TestNode;
before(async () => {
  node = await openTestNode(await temporaryFolder());
  await node.catalog.ensureDatabase(TEST_DATABASE);
});
after(() => node.close());

interface Series {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly [string, ...unknown[]])[];
}

async function seriesOf(text: string): Promise<readonly Series[]> {
  const { results } = JSON.parse(await queryInfluxql(node, text)) as {
    results: readonly { readonly error?: string; readonly series?: readonly Series[] }[];
  };
  assert.equal(results[0]?.error, undefined, text);
  return results[0]?.series ?? [];
}

const OVER_ROWS = [
  'difference(v)',
  'non_negative_difference(v)',
  'derivative(v, 1s)',
  'moving_average(v, 3)',
  'elapsed(v, 1s)',
  'difference(v), difference(w)',
];
const OVER_BUCKETS = [
  'difference(max(v))',
  'derivative(last(v), 1s)',
  'moving_average(sum(v), 3)',
  'difference(median(v))',
  'moving_average(difference(min(v)), 2)',
  'difference(count(v))',
];
const FILLED = ['last(v)', 'max(v)', 'count(v), last(w)', 'median(v)', 'first(v), w'];

const statements = fc.oneof(
  fc.record({ list: fc.constantFrom(...OVER_ROWS), fill: fc.constant('') }),
  fc.record({
    list: fc.constantFrom(...OVER_BUCKETS),
    fill: fc.constantFrom('', 'fill(none)', 'fill(previous)', 'fill(linear)', 'fill(7)'),
  }),
  fc.record({ list: fc.constantFrom(...FILLED), fill: fc.constant('fill(previous)') }),
);
const points = fc.array(
  fc.record({
    at: fc.integer({ min: 0, max: 99 }),
    host: fc.constantFrom('a', 'b'),
    v: fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined }),
    w: fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 14 },
);

it('returns the rows that a statement with an earlier lower bound returns', async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      points,
      statements,
      fc.record({
        from: fc.constantFrom(30, 50, 60),
        byHost: fc.boolean(),
        isDescending: fc.boolean(),
        zone: fc.constantFrom('', " tz('Europe/Berlin')"),
      }),
      async (rows, { list, fill }, { from, byHost, isDescending, zone }) => {
        const table = `m${count++}`;
        await writeLines(node, [
          `${table},host=z v=0i,w=0i 900000000000`,
          ...rows.flatMap(({ at, host, v, w }) => {
            const fields = [v === undefined ? [] : `v=${v}i`, w === undefined ? [] : `w=${w}i`];
            return fields.flat().length === 0
              ? []
              : `${table},host=${host} ${fields.flat().join(',')} ${at}000000000`;
          }),
        ]);
        const groups = [
          fill === '' && OVER_ROWS.includes(list) ? [] : 'time(10s)',
          byHost ? 'host' : [],
        ];
        const by =
          groups.flat().length === 0 ? '' : ` GROUP BY ${groups.flat().join(', ')} ${fill}`;
        const select = (hint: string, least: number, order: string): string =>
          `SELECT ${hint} ${list} FROM ${table} WHERE time >= ${least}s AND time < 100s${by}${order}${zone}`;
        const text = select(
          `/*+ lookback(${from}s) */`,
          from,
          isDescending ? ' ORDER BY time DESC' : '',
        );
        const expected = (await seriesOf(select('', 0, ''))).flatMap((series) => {
          const kept = series.values.filter(([time]) => Date.parse(time) >= from * 1000);
          if (isDescending) kept.reverse();
          return kept.length === 0 ? [] : { ...series, values: kept };
        });
        assert.deepEqual(await seriesOf(text), expected, text);
      },
    ),
    { numRuns: caseCount(30) },
  );
});
