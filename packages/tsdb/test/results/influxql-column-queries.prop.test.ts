import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { Metrics } from '@plinth/kernel';
import { caseCount, temporaryFolder } from '@plinth/kernel/testing';
import fc from 'fast-check';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { queryInfluxql, writeLines } from '#src/testing/write-and-query.js';

const START_MS = 1_700_000_000_000;

interface Row {
  readonly host: string | undefined;
  readonly region: string | undefined;
  readonly step: number;
  readonly i: number | undefined;
  readonly f: number;
  readonly b: boolean;
}

const rowArb: fc.Arbitrary<Row> = fc.record({
  host: fc.constantFrom('a', 'b', 'c', 'é', 'a"b', undefined),
  region: fc.constantFrom('eu', 'us', undefined),
  // Few timestamps, so that many rows of different series share one.
  step: fc.integer({ min: 0, max: 40 }),
  i: fc.option(fc.integer({ min: -9, max: 300 }), { nil: undefined, freq: 6 }),
  // Multiples of a quarter have exact sums in any order.
  f: fc.integer({ min: -400, max: 400 }).map((value) => value / 4),
  b: fc.boolean(),
});

const timeArb = fc.integer({ min: -1, max: 41 }).map((step) => `${START_MS + step * 10_000}ms`);
const conditionArb = fc.oneof(
  timeArb.map((time) => `time >= ${time}`),
  timeArb.map((time) => `time < ${time}`),
  fc.constantFrom("host = 'a'", "host != 'b'", 'host =~ /a|é/', "region = ''", 'i > 40', 'f <= 0'),
);
const queryArb = fc
  .record({
    list: fc.constantFrom(
      ...['*', 'i, f', 'f, host', '*::field'],
      ...[
        'max(i)',
        'mean(f)',
        'count(f), max(f), mean(f)',
        'count(i), sum(i), min(f)',
        'min(b), max(b), count(b)',
        'max(f) - min(f)',
        'last(f)',
      ],
    ),
    where: fc.array(conditionArb, { maxLength: 3 }),
    time: fc.constantFrom('', 'time(1m)', 'time(25s, 5s)'),
    tags: fc.constantFrom('', 'host', 'region, host', '*'),
    fill: fc.constantFrom('', ' fill(none)', ' fill(7)', ' fill(previous)'),
    order: fc.constantFrom('', ' ORDER BY time DESC'),
    limit: fc.constantFrom('', ' LIMIT 1', ' LIMIT 5 OFFSET 2'),
  })
  .map(({ list, where, time, tags, fill, order, limit }) => {
    const isGrouped = list.includes('(');
    const bounds = ['time >= 1699999990s', 'time < 1700000500s'];
    const conditions = isGrouped && time !== '' ? [...bounds, ...where] : where;
    const keys = [isGrouped ? time : '', tags].filter((key) => key !== '').join(', ');
    return [
      `SELECT ${list} FROM t`,
      conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`,
      keys === '' ? '' : ` GROUP BY ${keys}`,
      ...[isGrouped && time !== '' ? fill : '', order, limit],
    ].join('');
  });

describe('InfluxQL over rows in memory', () => {
  let folder = '';
  before(async () => {
    folder = await temporaryFolder();
  });

  it('returns the same bytes as DuckDB', { timeout: 240_000 }, async () => {
    let columnQueryCount = 0;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(rowArb, { minLength: 1, maxLength: 150 }),
        fc.array(queryArb, { minLength: 15, maxLength: 30 }),
        async (rows, queries) => {
          const dir = join(folder, String(count++));
          const metrics = new Metrics();
          const byColumns = await openTestNode(`${dir}-columns`, { metrics, cachedRangeRows: 16 });
          const byDuckDb = await openTestNode(`${dir}-engine`, {
            flags: { 'tsdb-column-cache-bytes': '0' },
          });
          try {
            for (const node of [byColumns, byDuckDb]) await write(node, rows);
            for (const query of queries)
              assert.equal(
                await queryInfluxql(byColumns, query),
                await queryInfluxql(byDuckDb, query),
                query,
              );
            const { text } = await metrics.page();
            columnQueryCount += Number(/^plinth_tsdb_direct_queries_total (\d+)/m.exec(text)?.[1]);
          } finally {
            await byColumns.close();
            await byDuckDb.close();
          }
        },
      ),
      { numRuns: caseCount(12) },
    );
    assert.ok(
      columnQueryCount > caseCount(50),
      `only ${columnQueryCount} answers came from memory`,
    );
  });
});

async function write(node: OpenTsdb, rows: readonly Row[]): Promise<void> {
  await node.catalog.ensureDatabase('d');
  const points = new Map<string, string>();
  for (const { host, region, step, i, f, b } of rows) {
    const tags = [host && `,host=${host}`, region && `,region=${region}`].filter(Boolean).join('');
    const fields = [i === undefined ? '' : `i=${i}i,`, `f=${f},b=${b}`].join('');
    points.set(`${tags} ${step}`, `t${tags} ${fields} ${START_MS + step * 10_000}`);
  }
  await writeLines(node, [...points.values()], 'millisecond');
}
