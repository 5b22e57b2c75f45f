// Source: docs/WEBHOOKS.md, "Retry failed deliveries".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { barsOf, historyText, successPercent } from './delivery-history.js';

const history = (succeeded: number[], failed: number[]) => ({
  ...{ bucket_seconds: 900, succeeded, failed },
});

it('describes a history', () => {
  assert.equal(historyText(history([1000, 234], [0, 3])), 'Last 30 min: 1,234 succeeded, 3 failed');
});

it('computes a success rate that is 100 % only without failures', () => {
  assert.equal(successPercent(history([0, 0], [0, 0])), undefined);
  assert.equal(successPercent(history([999, 1], [0, 1])), 99);
  assert.equal(successPercent(history([3], [0])), 100);
  assert.equal(successPercent(history([0], [3])), 0);
});

it('draws small counts beside large ones, and no bar for an empty bucket', () => {
  const bars = barsOf(history([0, 999_999, 0], [0, 1, 2]), 30);
  assert.deepEqual(
    bars.map(({ index }) => index),
    [1, 2],
  );
  for (const { succeeded, failed } of bars) {
    assert.ok(succeeded + failed <= 30);
    assert.ok(failed >= 1);
  }
  assert.equal(bars[1]?.succeeded, 0);
});
