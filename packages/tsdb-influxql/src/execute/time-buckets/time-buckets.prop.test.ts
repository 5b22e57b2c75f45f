import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TimeBuckets } from './time-buckets.js';

const HOUR_NS = 3_600_000_000_000n;
const START_NS = Date.UTC(2020, 0, 1);
const END_NS = BigInt(Date.UTC(2021, 0, 1)) * 1_000_000n;
const ZONES = ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe'];

// Buckets that are as short as the hour repeated by a clock change, with an offset to it, are split
// on any clock.
describe('buckets on the wall clock', () => {
  for (const zone of ZONES) {
    it(`are contiguous through a year of ${zone}, with every offset`, () => {
      for (const everyNs of [HOUR_NS / 2n, HOUR_NS, 2n * HOUR_NS, 6n * HOUR_NS, 24n * HOUR_NS]) {
        for (const offsetNs of [0n, HOUR_NS / 4n, HOUR_NS, 3n * HOUR_NS].filter(
          (o) => o < everyNs && (o === 0n || everyNs > HOUR_NS),
        )) {
          const timeBuckets = new TimeBuckets({ everyNs, offsetNs }, zone);
          let bucket = timeBuckets.bucketOf(BigInt(START_NS) * 1_000_000n);
          while (bucket.start < END_NS) {
            const bucketOf = `${zone} every ${everyNs} offset ${offsetNs} at ${bucket.start}`;
            for (const inside of [
              bucket.start,
              (bucket.start + bucket.end) / 2n,
              bucket.end - 1n,
            ]) {
              assert.deepEqual(timeBuckets.bucketOf(inside), bucket, bucketOf);
            }
            const nextStart = timeBuckets.bucketOf(bucket.end);
            assert.equal(nextStart.start, bucket.end, bucketOf);
            bucket = nextStart;
          }
        }
      }
    });
  }

  it('starts at the local hour of its offset on both sides of a clock change', () => {
    const timeBuckets = new TimeBuckets(
      { everyNs: 24n * HOUR_NS, offsetNs: 3n * HOUR_NS },
      'America/New_York',
    );
    const at = (text: string): bigint => BigInt(Date.parse(text)) * 1_000_000n;
    assert.equal(
      timeBuckets.bucketOf(at('2020-03-08T12:00:00-04:00')).start,
      at('2020-03-08T03:00:00-04:00'),
    );
    assert.equal(
      timeBuckets.bucketOf(at('2020-03-08T02:30:00-05:00')).start,
      at('2020-03-08T03:00:00-04:00'),
    );
    assert.equal(
      timeBuckets.bucketOf(at('2020-03-07T12:00:00-05:00')).start,
      at('2020-03-07T03:00:00-05:00'),
    );
    assert.equal(
      timeBuckets.bucketOf(at('2020-11-01T12:00:00-05:00')).start,
      at('2020-11-01T03:00:00-05:00'),
    );
  });
});
