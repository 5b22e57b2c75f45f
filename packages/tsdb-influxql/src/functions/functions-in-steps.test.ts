import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { runThrough, type Steps } from '@plinth/tsdb-model/time-sliced-task.js';
import type { ColumnPoints, Points } from '../execute/series/points.js';
import { TimeBuckets } from '../execute/time-buckets/time-buckets.js';
import { TECHNICAL, TRANSFORMATIONS } from '../plan/functions.js';
import { AGGREGATES, type Slice } from './aggregates.js';
import { holtWinters } from './holt-winters.js';
import { integral } from './integral.js';
import { distinctOf, sampleOf, topOf } from './row-makers.js';
import { transform } from './transformations.js';

const ROW_COUNT = 100_000;
/** Maximum number of rows between two yields. */
const MAX_STEP_ROWS = 4096;

/**
 * All rows have the same time, so functions that compare neighbors of equal time visit every row.
 */
const atOneTime = pointsOf((_) => 0n);
const points = pointsOf(BigInt);
const slice: Slice = { points: atOneTime, from: 0, to: ROW_COUNT };

function pointsOf(timeOf: (row: number) => bigint): ColumnPoints {
  const rows = Array.from({ length: ROW_COUNT }, (_, i) => i);
  // Unsorted values with few duplicates.
  const values = rows.map((row) => ((row * 7919) % 100_003) / 8);
  return { times: rows.map(timeOf), values, rows, length: ROW_COUNT };
}

const ofIntegral = { unitNs: 1n, baseNs: 0n, bucketLimit: ROW_COUNT };
const everyNanosecond = new TimeBuckets({ everyNs: 1n, offsetNs: 0n }, undefined);
/** The time range of these two points contains all rows. */
const twoPoints: ColumnPoints = {
  times: [0n, BigInt(ROW_COUNT - 1)],
  values: [1, 2],
  rows: [0, 1],
  length: 2,
};
const forecast = (bucketLimit: number): Steps<Points> =>
  holtWinters(twoPoints, {
    forecastCount: 1,
    season: 0,
    withFit: false,
    intervalNs: 1n,
    bucketLimit,
  });

const transformed = (name: string, period: bigint): Steps<unknown> =>
  transform(name, points, { options: [period], type: 'float', defaultUnitNs: 1n });

const works: Readonly<Record<string, Steps<unknown>>> = {
  ...Object.fromEntries([...TRANSFORMATIONS].map((name) => [name, transformed(name, 1000n)])),
  ...Object.fromEntries(
    [...AGGREGATES].flatMap(([name, { reduce, pick }]) => {
      const steps = reduce?.(slice) ?? pick?.(slice, 50);
      return name === 'count' || steps === undefined ? [] : [[name, steps]];
    }),
  ),
  integral: integral(points, { ...ofIntegral, timeBuckets: undefined }),
  // Two points with many empty buckets in between.
  'integral in buckets': integral(twoPoints, { ...ofIntegral, timeBuckets: everyNanosecond }),
  holt_winters: forecast(ROW_COUNT),
  top: topOf(slice, { sign: 1, count: ROW_COUNT }),
  distinct: distinctOf(slice),
  sample: sampleOf(slice, ROW_COUNT, Math.random),
};

describe('A function over many rows of one series yields to the event loop', () => {
  for (const [name, steps] of Object.entries(works)) {
    it(name, () => {
      const least = Math.floor(ROW_COUNT / MAX_STEP_ROWS);
      let count = 0;
      while (count < least && !steps.next().done) count++;
      assert.equal(count, least);
    });
  }
});

it('limits buckets between two points before creating them', () => {
  const limit = ROW_COUNT - 1;
  const isRefused = (error: unknown): boolean => tsdbError.is(error, 'bucket_limit_exceeded');
  const inBuckets = { ...ofIntegral, timeBuckets: everyNanosecond, bucketLimit: limit };
  assert.throws(() => runThrough(integral(twoPoints, inBuckets)), isRefused);
  assert.throws(() => runThrough(forecast(limit)), isRefused);
});

describe('A technical function with a long period', () => {
  const secondsOf = (name: string, period: bigint): number => {
    const startMs = performance.now();
    runThrough(transformed(name, period));
    return performance.now() - startMs;
  };
  for (const name of TECHNICAL) {
    it(`takes about as long as with a short period: ${name}`, () => {
      runThrough(transformed(name, 10n));
      const ratio = secondsOf(name, 50_000n) / secondsOf(name, 10n);
      // The ratio is in the thousands for functions that scan the full period for each row.
      assert.ok(ratio < 50, `${ratio} times as long`);
    });
  }

  const number = (index: number): number => points.values[index] as number;
  const changesBefore = (row: number, period: number): readonly number[] =>
    Array.from({ length: period }, (_, i) => number(row - i) - number(row - i - 1));
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  const expected: Readonly<Record<string, (row: number, period: number) => number>> = {
    kaufmans_efficiency_ratio: (row, period) =>
      Math.abs(number(row) - number(row - period)) /
      sum(changesBefore(row, period).map((change) => Math.abs(change))),
    chande_momentum_oscillator: (row, period) => {
      const up = sum(changesBefore(row, period).filter((change) => change > 0));
      const down = -sum(changesBefore(row, period).filter((change) => change < 0));
      return (100 * (up - down)) / (up + down);
    },
  };
  for (const [name, valueAt] of Object.entries(expected)) {
    it(`matches the definition row by row: ${name}`, () => {
      for (const period of [1, 2, 7, 1000]) {
        const made = runThrough(
          transform(name, points, { options: [BigInt(period)], type: 'float', defaultUnitNs: 1n }),
        );
        for (const row of [period, period + 1, 3 * period + 1, 5000, 50_001, ROW_COUNT - 1]) {
          const place = made.times.indexOf(BigInt(row));
          const value = made.values[place] as number;
          const wanted = valueAt(row, period);
          const isClose = Math.abs(value - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted));
          assert.ok(isClose, `period ${period}, row ${row}: ${value}, not ${wanted}`);
        }
      }
    });
  }
});
