// Source: docs/spec/query-languages.md, "Transformations over rows".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import { transform } from './transformations.js';

function movingAverage(values: readonly (number | bigint)[], size: number): readonly unknown[] {
  const times = values.map((_, i) => BigInt(i));
  const at = { options: [BigInt(size)], type: 'float', defaultUnitNs: 1n } as const;
  const points = { times, values: [...values] };
  const made = runThrough(transform('moving_average', points, at));
  assert.deepEqual(made.times, times.slice(size - 1));
  return made.values;
}

/** Reference implementation: sums each window separately. */
function meansOf(values: readonly number[], size: number): readonly number[] {
  return values
    .slice(size - 1)
    .map((_, i) => values.slice(i, i + size).reduce((sum, value) => sum + value, 0) / size);
}

describe('a moving average is the mean of the last values', () => {
  it('regardless of earlier values', () => {
    assert.deepEqual(movingAverage([1e17, 1, 2, 3, 4, 5, 6], 3).slice(1), [2, 3, 4, 5]);
    const after = movingAverage([1, Number.POSITIVE_INFINITY, 3, 4, 5, 6], 2);
    assert.deepEqual(after, [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 3.5, 4.5, 5.5]);
  });

  it('for each window size and number of values', () => {
    for (let count = 1; count <= 20; count++) {
      // Sums of these values are exact in any order.
      const values = Array.from({ length: count }, (_, i) => ((i * 37) % 11) / 4);
      for (let size = 2; size <= count; size++)
        assert.deepEqual(movingAverage(values, size), meansOf(values, size), `${count} ${size}`);
    }
  });

  it('of integers, added exactly', () => {
    const values = [2n ** 62n, 2n ** 62n, 3n, 5n, -(2n ** 62n)];
    assert.deepEqual(movingAverage(values, 2), [2 ** 62, 2 ** 61, 4, -(2 ** 61)]);
  });
});

describe('unsigned integers that differ by 2^63 or more', () => {
  const points = () => ({ times: [0n, 1n, 2n], values: [0n, 2n ** 63n, 5n] });
  const run = (name: string, type: 'float' | 'integer' | 'unsigned') =>
    runThrough(transform(name, points(), { options: [], type, defaultUnitNs: 1n }));

  it('have a positive derivative', () => {
    const falling = -(2 ** 63 - 5);
    assert.deepEqual(run('derivative', 'float').values, [2 ** 63, falling]);
    assert.deepEqual(run('non_negative_derivative', 'float'), { times: [1n], values: [2 ** 63] });
  });

  it('have a non-negative difference', () => {
    const increase = { times: [1n], values: [2n ** 63n] };
    assert.deepEqual(run('non_negative_difference', 'unsigned'), increase);
  });

  it('have a difference that wraps to a signed integer', () => {
    assert.deepEqual(run('difference', 'integer').values, [-(2n ** 63n), -(2n ** 63n) + 5n]);
  });
});
