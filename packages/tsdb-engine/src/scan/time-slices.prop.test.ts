import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import type { TimeSpan } from '@plinth/tsdb-model/segment.js';
import fc from 'fast-check';
import { type TimeSlice, TimeSlices } from './time-slices.js';

const MIN = -(2n ** 63n) + 2n;
const MAX = 2n ** 63n - 2n;
const ALL = { minTime: MIN, maxTime: MAX };

/** Includes small numbers, so that slices are adjacent and a slice may be one nanosecond. */
const anyTime = fc.oneof(
  fc.bigInt(-5n, 40n),
  fc.bigInt(MIN, MAX),
  fc.bigInt(1_700_000_000_000_000_000n, 1_700_086_400_000_000_000n),
);
const anyBounds = fc.tuple(anyTime, anyTime).map(([a, b]): TimeSlice => {
  return a < b ? { minTime: a, maxTime: b } : { minTime: b, maxTime: a };
});
const anySpan = fc
  .tuple(anyBounds, fc.integer({ min: 1, max: 50_000_000 }))
  .map(([bounds, rowCount]): TimeSpan => ({ ...bounds, rowCount }));

const anyOutcome = fc.record({
  rowCount: fc.integer({ min: 0, max: 1_000_000 }),
  duckDbMs: fc.integer({ min: 0, max: 1000 }),
  clientMs: fc.integer({ min: 0, max: 1000 }),
});

/** Measurements for clients that read as fast as rows arrive. */
const fast = (rowCount: number) => ({ rowCount, duckDbMs: 10, clientMs: 1 });

describe('TimeSlices', () => {
  it('covers the requested time range exactly once, in order', () => {
    fc.assert(
      fc.property(
        anyBounds,
        fc.array(anySpan, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        fc.array(anyOutcome, { minLength: 1, maxLength: 8 }),
        (bounds, spans, isDescending, outcomes) => {
          const slices = TimeSlices.of({ bounds, spans, isDescending });
          if (slices === undefined) return;
          const all: TimeSlice[] = [];
          for (let slice = slices.next(); slice !== undefined; slice = slices.next()) {
            all.push(slice);
            slices.ended(outcomes[all.length % outcomes.length] as (typeof outcomes)[number]);
            if (all.length > 10_000) assert.fail('there is no end of them');
          }
          if (isDescending) all.reverse();
          assert.equal(all[0]?.minTime, bounds.minTime);
          assert.equal(all.at(-1)?.maxTime, bounds.maxTime);
          all.forEach(({ minTime, maxTime }, index) => {
            assert.ok(minTime <= maxTime, `${minTime} ${maxTime}`);
            const next = all[index + 1];
            if (next !== undefined) assert.equal(next.minTime, maxTime + 1n);
          });
        },
      ),
      { numRuns: caseCount(500) },
    );
  });
});

const day = (rowCount: number, index = 0): TimeSpan => {
  const minTime = 1_700_000_000_000_000_000n + BigInt(index) * 86_400_000_000_000n;
  return { minTime, maxTime: minTime + 86_399_999_999_999n, rowCount };
};

/** Returns the number of rows in a slice, with evenly filled spans. */
const rowsIn = (spans: readonly TimeSpan[], { minTime, maxTime }: TimeSlice): number =>
  spans.reduce((sum, span) => {
    const from = minTime > span.minTime ? minTime : span.minTime;
    const to = maxTime < span.maxTime ? maxTime : span.maxTime;
    const share = Number(to - from) / Number(span.maxTime - span.minTime);
    return sum + span.rowCount * Math.max(0, share);
  }, 0);

function sizesOf(spans: readonly TimeSpan[], outcome: typeof fast): number[] {
  const slices = TimeSlices.of({ bounds: ALL, spans, isDescending: false });
  assert.ok(slices);
  const sizes: number[] = [];
  for (let slice = slices.next(); slice !== undefined; slice = slices.next()) {
    const size = Math.round(rowsIn(spans, slice));
    sizes.push(size);
    slices.ended(outcome(size));
  }
  return sizes;
}

describe('slice sizes', () => {
  it('do not divide small results', () => {
    const ofDay = (rowCount: number) =>
      TimeSlices.of({ bounds: ALL, spans: [day(rowCount)], isDescending: false });
    assert.equal(ofDay(8192), undefined);
    assert.equal(ofDay(10_000)?.rowCount, 10_000);
  });

  it('start small and grow for a fast client', () => {
    const sizes = sizesOf([day(30_000_000)], fast);
    assert.deepEqual(sizes.slice(0, 5), [64_000, 256_000, 1_024_000, 1_875_000, 1_875_000]);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      30_000_000,
    );
  });

  it('use several slices for medium results', () => {
    assert.deepEqual(sizesOf([day(1_000_000)], fast), [64_000, 256_000, 256_000, 256_000, 168_000]);
  });

  it('stay small for a slow client', () => {
    const sizes = sizesOf([day(1_000_000), day(1_000_000, 1)], (rowCount) => ({
      rowCount,
      duckDbMs: 10,
      clientMs: 5000,
    }));
    assert.ok(Math.max(...sizes) <= 192_000, String(sizes));
  });

  it('shrink with little memory, down to a minimum', () => {
    const sizesWith = (fitting: number, span: TimeSpan, least = 8192) => {
      const slices = TimeSlices.of({ bounds: ALL, spans: [span], isDescending: false });
      assert.ok(slices);
      const sizes: number[] = [];
      for (;;) {
        const slice = slices.next({ fitting, least });
        if (slice === undefined) break;
        sizes.push(Math.round(rowsIn([span], slice)));
        assert.ok(Math.abs(slice.rowCount - (sizes.at(-1) ?? 0)) < 2, String(slice.rowCount));
        slices.ended(fast(sizes.at(-1) ?? 0));
      }
      return sizes;
    };
    assert.deepEqual(sizesWith(100_000, day(400_000)), [64_000, 100_000, 100_000, 136_000]);
    assert.equal(sizesWith(1, day(400_000))[1], 8192);
    assert.equal(sizesWith(1, day(400_000), 1000)[1], 1000);
    assert.equal(sizesWith(1, day(400_000), 100_000)[1], 8192);
    assert.equal(sizesWith(1, day(102_400_000))[1], 100_000);
  });

  it('adapt to the selectivity of a condition', () => {
    const sizes = sizesOf([day(50_000_000)], (size) => fast(Math.round(size / 1000)));
    assert.deepEqual(sizes, [64_000, 49_936_000]);
  });
});
