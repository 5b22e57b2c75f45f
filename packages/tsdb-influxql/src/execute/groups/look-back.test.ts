// Source: query-languages, "Look-back".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runThrough } from '@plinth/tsdb-model/time-sliced-task.js';
import { NO_POINTS, type Points } from '../series/points.js';
import { TimeBuckets } from '../time-buckets/time-buckets.js';
import { fillStart, keepBefore, withEarlier } from './look-back.js';

const points = (...cells: readonly (readonly [bigint, bigint | null])[]): Points => ({
  times: cells.map(([time]) => time),
  values: cells.map(([, value]) => value),
});

describe('the points before a time range', () => {
  it('are the last ones with a value, with all points of a timestamp', () => {
    const all = points([1n, 1n], [2n, 2n], [2n, 3n], [3n, null], [5n, 5n], [6n, null]);
    const kept = (count: number) => runThrough(keepBefore(all, 5n, count));
    assert.deepEqual(kept(0), points([5n, 5n], [6n, null]));
    assert.deepEqual(kept(1), points([2n, 2n], [2n, 3n], [5n, 5n], [6n, null]));
    assert.deepEqual(kept(2), points([1n, 1n], [2n, 2n], [2n, 3n], [5n, 5n], [6n, null]));
    assert.deepEqual(kept(9), kept(2));
    assert.equal(runThrough(keepBefore(NO_POINTS, 5n, 1)), NO_POINTS);
  });

  it('include those of the first bucket that are before the time range', () => {
    // The bucket from 60 contains the lower bound, for example 65.
    const earlier = { points: points([50n, 1n], [60n, 2n]), count: 0, fromNs: 0n };
    assert.deepEqual(
      runThrough(withEarlier(points([60n, 7n]), earlier, 60n)),
      points([59n, 2n], [60n, 7n]),
    );
    assert.deepEqual(runThrough(withEarlier(NO_POINTS, earlier, 60n)), points([59n, 2n]));
  });

  it('repeat the other columns of a selector', () => {
    const before = { ...points([50n, 1n], [55n, 2n]), otherColumns: [['x', null]] };
    const joined = withEarlier(
      { ...points([60n, 3n], [70n, 4n]), otherColumns: [[null, 'y']] },
      { points: before, count: 0, fromNs: 0n },
      60n,
    );
    assert.deepEqual(runThrough(joined).otherColumns, [['x', 'x', 'y']]);
  });

  it('are filled from the buckets that a call uses, within the look-back', () => {
    const timeBuckets = new TimeBuckets({ everyNs: 10n, offsetNs: 0n }, undefined);
    const startOf = (count: number) =>
      fillStart({ points: NO_POINTS, count, fromNs: 20n }, timeBuckets, 60n);
    assert.deepEqual([0, 1, 2, 3, 4, 2 ** 62].map(startOf), [60n, 40n, 30n, 20n, 20n, 20n]);
  });
});
