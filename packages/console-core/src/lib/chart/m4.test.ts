import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { statsOf } from '../frame/stats.js';
import { lowerBound, reduceM4 } from './m4.js';
import { alignSeries, type ChartSeries } from './series.js';

const WIDTH = 100;
const COUNT = 100_000;
const times = Float64Array.from({ length: COUNT }, (_, index) => index);
const flat = () => new Float64Array(COUNT).fill(1);
const reduce = (values: Float64Array) => [
  ...reduceM4(times, values, { from: 0, to: COUNT, minTime: 0, maxTime: COUNT - 1, width: WIDTH }),
];

describe('Downsampling', () => {
  it('keeps every peak, however narrow', () => {
    for (const place of [0, 1, 49_999, 77_777, COUNT - 1]) {
      const values = flat();
      values[place] = 1000;
      values[(place + 500) % COUNT] = -1000;
      const kept = reduce(values);
      assert.ok(kept.includes(place), `${place}`);
      assert.ok(kept.includes((place + 500) % COUNT));
    }
  });

  it('keeps at most five ascending points per pixel column, and both ends', () => {
    const kept = reduce(Float64Array.from(times, (time) => Math.sin(time / 700)));
    assert.ok(kept.length <= 5 * (WIDTH + 1), `${kept.length}`);
    assert.deepEqual(
      kept,
      [...kept].sort((a, b) => a - b),
    );
    assert.equal(kept[0], 0);
    assert.equal(kept.at(-1), COUNT - 1);
    assert.equal(new Set(kept).size, kept.length);
  });

  it('keeps every gap', () => {
    const values = flat();
    values[12_345] = Number.NaN;
    assert.ok(reduce(values).includes(12_345));
  });
});

describe('Aligned series', () => {
  const series = (key: string, at: readonly number[], values: readonly number[]): ChartSeries => ({
    key,
    label: key,
    labels: [],
    tags: [],
    unit: 'none',
    field: 'v',
    times: Float64Array.from(at),
    values: Float64Array.from(values),
    stats: statsOf(Float64Array.from(values)),
  });

  it('share their times: a gap is null, the time of another series is undefined', () => {
    const { data, isReduced } = alignSeries(
      [series('a', [0, 1000, 2000], [1, Number.NaN, 3]), series('b', [500], [9])],
      { fromMs: 0, toMs: 2000, width: 100 },
    );
    assert.equal(isReduced, false);
    assert.deepEqual(data, [
      [0, 0.5, 1, 2],
      [1, undefined, null, 3],
      [undefined, 9, undefined, undefined],
    ]);
  });

  it('share few times and keep their peaks, whatever their points are', () => {
    const lines = Array.from({ length: 10 }, (_, line) => {
      const at = Array.from({ length: 50_000 }, (_, index) => index * 10 + line);
      return series(
        `s${line}`,
        at,
        at.map((ms) => (ms === 123_450 + line ? 1e6 : ms % 97)),
      );
    });
    const { data, isReduced } = alignSeries(lines, { fromMs: 0, toMs: 500_000, width: 400 });
    assert.equal(isReduced, true);
    assert.ok(data[0].length <= 5 * 402, `${data[0].length}`);
    for (const list of data.slice(1)) assert.ok((list as number[]).includes(1e6));
  });

  it('include one point beyond each end, so that lines reach the edges', () => {
    const { data } = alignSeries([series('a', [0, 1000, 2000, 3000, 4000], [0, 1, 2, 3, 4])], {
      fromMs: 1500,
      toMs: 2500,
      width: 100,
    });
    assert.deepEqual(data[0], [1, 2, 3]);
  });

  it('have statistics of their present values', () => {
    const stats = statsOf(Float64Array.from([1, Number.NaN, 5, 3, Number.NaN]));
    assert.deepEqual(stats, { last: 3, min: 1, max: 5, avg: 3, sum: 9 });
    assert.ok(Number.isNaN(statsOf(new Float64Array(0)).max));
  });

  it('are searched by time', () => {
    const list = [10, 20, 20, 30];
    assert.deepEqual(
      [5, 10, 15, 20, 30, 31].map((time) => lowerBound(list, time, 0, 4)),
      [0, 0, 1, 1, 3, 4],
    );
  });
});
