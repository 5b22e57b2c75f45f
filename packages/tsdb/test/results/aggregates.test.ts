import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { AGGREGATES } from '@plinth/tsdb-influxql/functions/aggregates.js';
import { ALL_FUNCTIONS } from '@plinth/tsdb-sql/functions/index.js';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

/** Values by host; `b` has only one. */
const VALUES: Readonly<Record<string, readonly number[]>> = {
  a: [1.5, -2, 8.25, 8.25, 0.1, 3],
  b: [7.5],
  c: [-4, 12.75, 0.3],
};

describe('An aggregate or selector', () => {
  let dataDir = '';
  let node: OpenTsdb;
  before(async () => {
    dataDir = await temporaryFolder();
    node = await openTestNode(dataDir);
    await node.catalog.ensureDatabase(TEST_DATABASE);
    const lines = Object.entries(VALUES).flatMap(([host, values]) =>
      values.map((f, i) => `t,host=${host} f=${f},i=${Math.round(f)}i ${i + 1}`),
    );
    await writeLines(node, lines);
  });
  after(() => node.close());

  /** The result for each host. */
  async function byInfluxql(call: string, source: string): Promise<readonly (number | null)[]> {
    const text = await queryInfluxql(node, `SELECT ${call} FROM ${source} GROUP BY host`);
    const { series } = JSON.parse(text).results[0];
    return series.map(({ values }: { readonly values: [[string, number | null]] }) => values[0][1]);
  }

  async function bySql(call: string): Promise<readonly (number | null)[]> {
    const [, ...rows] = await query(node, `SELECT ${call} AS v FROM t GROUP BY host ORDER BY host`);
    return rows.map((row) => (row === 'NULL' ? null : Number(row)));
  }

  function assertClose(
    actual: readonly (number | null)[],
    expected: readonly (number | null)[],
  ): void {
    const rounded = (values: readonly (number | null)[]) =>
      values.map((value) => value && Number(value.toPrecision(12)));
    assert.deepEqual(rounded(actual), rounded(expected));
    assert.equal(actual.length, Object.keys(VALUES).length);
  }

  // The outer query processes the rows of the subquery one by one.
  for (const name of AGGREGATES.keys()) {
    const call = (field: string): string =>
      name === 'percentile' ? `percentile(${field}, 50)` : `${name}(${field})`;
    it(`returns the same over rows and over groups: ${name}`, async () => {
      for (const field of ['f', 'i'])
        assertClose(
          await byInfluxql(call(field), `(SELECT ${field} FROM t)`),
          await byInfluxql(call(field), 't'),
        );
    });
    if (!ALL_FUNCTIONS.some(({ names }) => names.includes(name))) continue;
    it(`returns the same in both languages: ${name}`, async () => {
      assertClose(await byInfluxql(call('f'), 't'), await bySql(call('f')));
    });
  }
});
