import assert from 'node:assert/strict';
import { it } from 'node:test';
import { PendingRanges } from './pending-ranges.js';

const HOUR = { fromMs: 0, toMs: 3_600_000 };
const HALF = { fromMs: 900_000.5, toMs: 2_700_000.5 };
const QUARTER = { fromMs: 1_350_000, toMs: 2_250_000 };

it('a zoom whose points came late took back the next one', () => {
  const ranges = new PendingRanges(HOUR);
  ranges.add(HALF);
  ranges.add(QUARTER);
  ranges.show({ fromMs: 900_000, toMs: 2_700_000 });
  assert.deepEqual(ranges.last, QUARTER);
  ranges.show(QUARTER);
  assert.deepEqual(ranges.last, QUARTER);
});

it('a range that was chosen elsewhere is where the next zoom starts', () => {
  const ranges = new PendingRanges(HOUR);
  assert.deepEqual(ranges.last, HOUR);
  ranges.add(HALF);
  const other = { fromMs: -3_600_000, toMs: 0 };
  ranges.show(other);
  assert.deepEqual(ranges.last, other);
});

it('a zoom out drops pending zooms', () => {
  const ranges = new PendingRanges(HOUR);
  ranges.add(HALF);
  ranges.clear();
  assert.deepEqual(ranges.last, HOUR);
});
