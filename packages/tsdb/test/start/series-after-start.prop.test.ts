import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { caseCount, temporaryFolder } from '@plinth/kernel/testing';
import fc from 'fast-check';
import type { OpenTsdb } from '#src/service.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

interface Row {
  readonly host: string | undefined;
  readonly region: string | undefined;
  readonly time: number;
  readonly a: number | undefined;
  readonly b: number | undefined;
}

/** Steps before or directly after startup, sequential or concurrent. */
type Step =
  | { readonly kind: 'write'; readonly rows: readonly Row[] }
  | { readonly kind: 'delete'; readonly host: string; readonly to: number }
  | { readonly kind: 'query'; readonly text: keyof typeof QUERIES }
  | { readonly kind: 'start' };

/** As in rendered results. */
const NULL = 'NULL';

const QUERIES = {
  'SELECT count(*), sum(a), sum(b) FROM t': (points: readonly Row[]) => [
    [points.length, sumOf(points, 'a'), sumOf(points, 'b')].join(' | '),
  ],
  "SELECT count(*), sum(a) FROM t WHERE host = 'x'": (points: readonly Row[]) => {
    const met = points.filter(({ host }) => host === 'x');
    return [[met.length, sumOf(met, 'a')].join(' | ')];
  },
  'SELECT host, count(*) FROM t GROUP BY host': (points: readonly Row[]) =>
    [...new Set(points.map(({ host }) => host))]
      .map((host) => `${host ?? NULL} | ${points.filter((each) => each.host === host).length}`)
      .sort(),
  'SELECT host, region, a, b FROM t': (points: readonly Row[]) =>
    points
      .map(({ host, region, a, b }) =>
        [host ?? NULL, region ?? NULL, a ?? NULL, b ?? NULL].join(' | '),
      )
      .sort(),
} as const;

function sumOf(points: readonly Row[], field: 'a' | 'b'): number | typeof NULL {
  const values = points.flatMap((point) => point[field] ?? []);
  return values.length === 0 ? NULL : values.reduce((sum, value) => sum + value, 0);
}

const hostArb = fc.constantFrom('x', 'y', 'a name of more than twelve bytes', undefined);
const rowArb: fc.Arbitrary<Row> = fc
  .record({
    host: hostArb,
    region: fc.constantFrom('eu', undefined),
    // Few timestamps, so that points are written again after startup.
    time: fc.integer({ min: 1, max: 5 }),
    a: fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined }),
    b: fc.option(fc.integer({ min: -9, max: 9 }), { nil: undefined }),
  })
  .filter(({ a, b }) => a !== undefined || b !== undefined);
const stepArb: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(rowArb, { minLength: 1, maxLength: 6 })
      .map((rows) => ({ kind: 'write' as const, rows })),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      host: fc.constantFrom('x', 'y'),
      to: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom(...(Object.keys(QUERIES) as (keyof typeof QUERIES)[]))
      .map((text) => ({ kind: 'query' as const, text })),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'start' as const }) },
);

/**
 * Expected content: later writes replace earlier ones field by field, and deletions remove existing
 * points.
 */
class Model {
  readonly #points = new Map<string, Row>();

  get points(): readonly Row[] {
    return [...this.#points.values()];
  }

  write(rows: readonly Row[]): void {
    for (const row of rows) {
      const key = `${row.host} ${row.region} ${row.time}`;
      const before = this.#points.get(key);
      this.#points.set(key, { ...row, a: row.a ?? before?.a, b: row.b ?? before?.b });
    }
  }

  delete({ host, to }: { readonly host: string; readonly to: number }): void {
    for (const [key, point] of this.#points)
      if (point.host === host && point.time <= to) this.#points.delete(key);
  }
}

const lineOf = ({ host, region, time, a, b }: Row): string => {
  const tags = [host && `,host=${host.replaceAll(' ', '\\ ')}`, region && `,region=${region}`];
  const fields = [a === undefined ? [] : [`a=${a}i`], b === undefined ? [] : [`b=${b}i`]].flat();
  return `t${tags.join('')} ${fields.join(',')} ${time}`;
};

/** A separate series that gives the table all of its columns. */
const FIRST: Row = { host: 'first', region: 'first', time: 9, a: 1, b: 2 };

describe('The first requests after a start, while series are still in their files', () => {
  let dataDir = '';
  let node: OpenTsdb;
  const open = async (): Promise<void> => {
    // Without columns in memory, DuckDB runs all queries.
    const flags = isCached ? {} : { 'tsdb-column-cache-bytes': '0' };
    node = await openTestNode(join(dataDir, 'node'), { flags });
  };
  let isCached = true;
  before(async () => {
    dataDir = await temporaryFolder();
  });

  const take = async (step: Step, model: Model): Promise<void> => {
    switch (step.kind) {
      case 'write':
        model.write(step.rows);
        return await writeLines(node, step.rows.map(lineOf));
      case 'delete':
        model.delete(step);
        return await node.engine.deleteRows({
          database: TEST_DATABASE,
          tables: ['t'],
          minTimeNs: 0n,
          maxTimeNs: BigInt(step.to),
          anyOf: [[{ tag: 'host', op: 'in', values: [step.host] }]],
        });
      case 'query': {
        const [, ...rows] = await query(node, step.text);
        assert.deepEqual(rows.sort(), QUERIES[step.text](model.points), step.text);
        return;
      }
      case 'start':
        await node.close();
        return await open();
    }
  };

  it('find all stored rows, without duplicates of rewritten points', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepArb, { minLength: 2, maxLength: 6 }),
        fc.boolean(),
        async (steps, cached) => {
          isCached = cached;
          await open();
          try {
            const model = new Model();
            await take({ kind: 'write', rows: [FIRST] }, model);
            await take({ kind: 'start' }, model);
            for (const step of steps) await take(step, model);
            for (const text of Object.keys(QUERIES) as (keyof typeof QUERIES)[])
              await take({ kind: 'query', text }, model);
          } finally {
            await node.close();
            await rm(join(dataDir, 'node'), { recursive: true, force: true });
          }
        },
      ),
      { numRuns: caseCount(4) },
    );
  });

  it('share one load of the series', async () => {
    await open();
    await writeLines(node, [
      lineOf(FIRST),
      ...Array.from({ length: 5000 }, (_, i) => `t,host=h${i} a=1i 1`),
    ]);
    await node.close();
    await open();
    try {
      // All of these start before the series are loaded.
      const again = writeLines(node, ['t,host=h7 a=2i 1', 't,host=new a=2i 1']);
      const whole = query(node, 'SELECT count(*) FROM t WHERE b IS NOT NULL');
      const one = query(node, "SELECT count(*) FROM t WHERE host = 'h4999'");
      await Promise.all([again, whole, one]);
      assert.deepEqual(await whole, ['count(*)', '1']);
      assert.deepEqual(await one, ['count(*)', '1']);
      assert.deepEqual(await query(node, 'SELECT count(*), sum(a) FROM t'), [
        'count(*) | sum(t.a)',
        '5002 | 5004',
      ]);
    } finally {
      await node.close();
      await rm(join(dataDir, 'node'), { recursive: true, force: true });
    }
  });
});
