import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ChangedBuckets } from './changed-buckets.js';

it('returns adjacent buckets as one range', () => {
  const buckets = new ChangedBuckets(10n);
  for (const time of [5n, 9n, 12n, -1n, -10n, 40n])
    assert.equal(buckets.touch(time, time + 100n), 0);
  assert.equal(buckets.count, 4);
  assert.equal(buckets.seq, 140n);
  assert.deepEqual(buckets.takeRanges(), [
    { minTimeNs: -10n, maxTimeNs: 19n },
    { minTimeNs: 40n, maxTimeNs: 49n },
  ]);
  assert.equal(buckets.count, 0);
  buckets.putBack({ minTimeNs: -10n, maxTimeNs: 9n });
  assert.equal(buckets.count, 2);
  buckets.touch(41n, 1n);
  assert.equal(buckets.count, 3, 'a bucket that was taken changes again');
});

it('takes a limited number of ranges, and drops the oldest of too many buckets', () => {
  const buckets = new ChangedBuckets(1n);
  for (let time = 0n; time < 40n; time += 2n) buckets.touch(time, 1n);
  assert.equal(buckets.takeRanges().length, 16);
  assert.equal(buckets.count, 4);
  let dropped = 0;
  for (let time = 100n; time < 10_100n; time++) dropped += buckets.touch(time, 2n);
  assert.equal(dropped, 4);
  assert.equal(buckets.count, 10_000);
});

it('divides a long range', () => {
  const buckets = new ChangedBuckets(10n);
  for (let i = 0n; i < 150n; i++) buckets.touch(i * 10n, 1n);
  assert.deepEqual(buckets.takeRanges(), [
    { minTimeNs: 0n, maxTimeNs: 999n },
    { minTimeNs: 1000n, maxTimeNs: 1499n },
  ]);
});
