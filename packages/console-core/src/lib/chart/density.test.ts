import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { densityOf, strengthOf } from './density.js';

describe('density', () => {
  const grid = { fromMs: 0, toMs: 100, low: 0, high: 10, columns: 4, rows: 2, isLog: false };

  it('counts points by cell, the highest values first', () => {
    const one = { times: [0, 24, 25, 100, 50], values: [9, 9, 1, 0, 10] };
    const two = { times: [99, 0, 50, 50], values: [5, Number.NaN, 10.1, -0.1] };
    assert.deepEqual([...densityOf([one, two], grid)], [2, 0, 1, 0, 0, 1, 0, 2]);
  });

  it('spaces rows evenly on a logarithmic scale', () => {
    const points = { times: [0, 0, 0, 0], values: [1, 9, 11, 99] };
    const log = { ...grid, low: 1, high: 100, columns: 1, isLog: true };
    assert.deepEqual([...densityOf([points], log)], [2, 2]);
    assert.deepEqual([...densityOf([{ times: [0], values: [-1] }], log)], [0, 0]);
  });

  it('counts every point', () => {
    const times = Array.from({ length: 200_000 }, (_, index) => (index * 7919) % 100);
    const values = times.map((_, index) => ((index * 104_729) % 1000) / 100);
    const counts = densityOf([{ times, values }], { ...grid, columns: 600, rows: 250 });
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      200_000,
    );
  });

  it('keeps a single point visible beside thousands', () => {
    assert.equal(strengthOf(0, 1000), 0);
    assert.ok(strengthOf(1, 1000) > 0.15);
    assert.equal(strengthOf(1000, 1000), 1);
    assert.equal(strengthOf(1, 1), 1);
  });
});
