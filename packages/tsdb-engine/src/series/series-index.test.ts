import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runThrough, STEP_ROWS } from '@plinth/tsdb-model/time-sliced-task.js';
import { SeriesIndex } from './series-index.js';

function advance(index: SeriesIndex, ordinal: number, time: bigint): boolean {
  return index.advanceLastTime(ordinal, new Int32Array(BigInt64Array.of(time).buffer), 0);
}

describe('SeriesIndex', () => {
  it('returns one number per tag set, in any tag order', () => {
    const index = new SeriesIndex(1n);
    const first = index.resolve(['host', 'region'], ['a', 'eu']);
    assert.equal(index.resolve(['region', 'host'], ['eu', 'a']), first);
    assert.notEqual(index.resolve(['host'], ['a']), first);
    assert.equal(index.resolve([], []), index.resolve([], []));
    assert.equal(index.count, 3);
  });

  it('keeps tags and ids when it grows', () => {
    const index = new SeriesIndex(5n);
    const numbers = Array.from({ length: 5000 }, (_, i) =>
      index.resolve(['n', 'even'], [`v${i}`, String(i % 2)]),
    );
    numbers.forEach((ordinal, i) => {
      assert.equal(index.resolve(['even', 'n'], [String(i % 2), `v${i}`]), ordinal);
      assert.deepEqual(index.tagsOf(ordinal), {
        keys: ['even', 'n'],
        values: [String(i % 2), `v${i}`],
      });
    });
    assert.equal(new Set(numbers.map((ordinal) => index.idOf(ordinal))).size, 5000);
  });

  it('distinguishes tag sets with the same stored id', () => {
    const index = new SeriesIndex(1n);
    const taken = new SeriesIndex(1n);
    const id = taken.idOf(taken.resolve(['host'], ['a']));
    const other = index.load(id, ['host'], ['somebody else'], 0n);
    const own = index.resolve(['host'], ['a']);
    assert.notEqual(own, other);
    assert.notEqual(index.idOf(own), id);
    assert.equal(index.resolve(['host'], ['a']), own);
  });

  it('detects rows later than all earlier ones of their series', () => {
    const index = new SeriesIndex(1n);
    const ordinal = index.resolve(['host'], ['a']);
    const times = [
      -5n,
      -5n,
      -6n,
      0n,
      2n ** 32n,
      2n ** 32n - 1n,
      2n ** 32n + 1n,
      2n ** 31n,
      2n ** 62n,
    ];
    assert.deepEqual(
      times.map((time) => advance(index, ordinal, time)),
      [true, false, false, true, true, false, true, false, true],
    );
  });

  it('treats rows up to the stored time of a loaded series as possible repeats', () => {
    const index = new SeriesIndex(1n);
    const ordinal = index.load(42n, ['host'], ['a'], 1000n);
    assert.equal(advance(index, ordinal, 1000n), false);
    assert.equal(advance(index, ordinal, 1001n), true);
  });

  it('selects series by tag conditions', () => {
    const index = new SeriesIndex(1n);
    const a = index.resolve(['host', 'region'], ['a', 'eu']);
    const b = index.resolve(['host', 'region'], ['b', 'us']);
    const c = index.resolve(['region'], ['eu']);
    const select = (
      op: 'in' | 'not_in',
      tag: string,
      values: (string | undefined)[],
    ): readonly number[] | undefined => runThrough(index.select([{ tag, op, values }], 10));
    assert.deepEqual(select('in', 'host', ['a', 'zzz']), [a]);
    assert.deepEqual(select('not_in', 'host', ['a']), [b, c]);
    assert.deepEqual(select('in', 'host', [undefined]), [c]);
    assert.deepEqual(select('in', 'no such tag', ['x']), []);
    assert.deepEqual(select('in', 'no such tag', [undefined]), [a, b, c]);
    const eu = { tag: 'region', op: 'in', values: ['eu'] } as const;
    assert.equal(runThrough(index.select([eu], 1)), undefined);
    assert.deepEqual(runThrough(index.select([eu], 2)), [a, c]);
    const onA = { tag: 'host', op: 'not_in', values: [undefined, 'b'] } as const;
    assert.deepEqual(runThrough(index.select([eu, onA], 1)), [a]);
    assert.deepEqual(select('in', 'region', ['us', 'eu', 'us']), [a, b, c]);
  });

  it('selects many series in short steps, without series that are added between them', () => {
    const index = new SeriesIndex(1n);
    const values = Array.from({ length: 3 * STEP_ROWS }, (_, i) => `u${i}`);
    const all = values.map((value) => index.resolve(['u'], [value]));
    const allBut = { tag: 'u', op: 'not_in', values: [undefined] } as const;
    for (const condition of [{ tag: 'u', op: 'in', values } as const, allBut]) {
      const steps = index.select([condition], Number.POSITIVE_INFINITY);
      let stepCount = 1;
      let step = steps.next();
      index.resolve(['u'], [`later ${condition.op}`]);
      for (; !step.done; step = steps.next()) stepCount++;
      const expected = condition === allBut ? [...all, all.length] : all;
      assert.deepEqual(step.value, expected);
      assert.ok(stepCount > 3, String(stepCount));
    }
  });
});
