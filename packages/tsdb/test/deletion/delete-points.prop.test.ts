import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { caseCount, ManualClock } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

interface Point {
  readonly tag: string;
  readonly time: number;
  readonly a: number | undefined;
  readonly b: number | undefined;
}

/** Conditions of deletions, with their meaning for one point. */
const CONDITIONS: Readonly<Record<string, (point: Point) => boolean>> = {
  'a > 5': ({ a }) => a !== undefined && a > 5,
  'b = 3': ({ b }) => b === 3,
  "a != 2 AND t = 'x'": ({ a, tag }) => a !== undefined && a !== 2 && tag === 'x',
  'a < 4 OR b > 7': ({ a, b }) => (a !== undefined && a < 4) || (b !== undefined && b > 7),
  'a <= 6 AND time >= 3': ({ a, time }) => a !== undefined && a <= 6 && time >= 3,
};

const value = fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined });
const points = fc.array(
  fc
    .record({
      tag: fc.constantFrom('x', 'y', 'z'),
      // Few timestamps, so that points are written again and late.
      time: fc.integer({ min: 1, max: 6 }),
      a: value,
      b: value,
    })
    .filter(({ a, b }) => a !== undefined || b !== undefined),
  { minLength: 1, maxLength: 8 },
);
const step = fc.oneof(
  { weight: 4, arbitrary: points },
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(CONDITIONS)) },
  { weight: 2, arbitrary: fc.constantFrom('flush' as const, 'flush only' as const) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
);

const lineOf = ({ tag, time, a, b }: Point): string =>
  `m,t=${tag} ${[a === undefined ? [] : `a=${a}`, b === undefined ? [] : `b=${b}`].flat().join(',')} ${time}`;

it('deletes exactly the points whose current values match, at any place and after any steps', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-delete-points-'));
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
        const clock = new ManualClock();
        const open = () => openTestNode(join(dataDir, 'node'), { clock });
        let node = await open();
        const model = new Map<string, Point>();
        const write = async (each: readonly Point[]): Promise<void> => {
          await writeLines(node, each.map(lineOf));
          for (const point of each) {
            const key = `${point.tag} ${point.time}`;
            const before = model.get(key);
            model.set(key, { ...point, a: point.a ?? before?.a, b: point.b ?? before?.b });
          }
        };
        try {
          await node.catalog.ensureDatabase(TEST_DATABASE);
          await write([{ tag: 'first', time: 9, a: 100, b: 100 }]);
          for (const each of steps) {
            if (typeof each !== 'string') await write(each);
            else if (each === 'flush') await flushEngine(node.engine);
            else if (each === 'flush only') await node.engine.background.flusher.flush('all');
            else if (each === 'restart') {
              await node.close();
              node = await open();
            } else {
              const done = await queryInfluxql(node, `DELETE FROM m WHERE ${each}`);
              assert.equal(done, '{"results":[{"statement_id":0}]}\n');
              for (const [key, point] of model) if (CONDITIONS[each]?.(point)) model.delete(key);
            }
            const [, ...found] = await query(node, 'SELECT t, time, a, b FROM m');
            const expected = [...model.values()].map(
              ({ tag, time, a, b }) =>
                `${tag} | 1970-01-01T00:00:00.00000000${time} | ${a ?? 'NULL'} | ${b ?? 'NULL'}`,
            );
            assert.deepEqual(
              found.map((row) => row.replaceAll('.0 ', ' ').replace(/\.0$/, '')).sort(),
              expected.sort(),
            );
          }
        } finally {
          await node.close();
          await rm(join(dataDir, 'node'), { recursive: true, force: true });
        }
      }),
      { numRuns: caseCount(20) },
    );
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});
