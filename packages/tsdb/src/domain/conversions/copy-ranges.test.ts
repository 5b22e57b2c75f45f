import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { copyRanges, spansWithin } from './copy-ranges.js';
import { DirtyTimes } from './dirty-times.js';

const span = fc
  .tuple(
    fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
    fc.bigInt({ min: 0n, max: 10n ** 10n }),
  )
  .chain(([minTime, width]) =>
    fc.record({
      minTime: fc.constant(minTime),
      maxTime: fc.constant(minTime + width),
      rowCount: fc.integer({ min: 0, max: 100_000 }),
    }),
  );

it('covers every span without gaps or overlaps, in parts of about the wanted size', () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 20 }), (spans) => {
      const used = spans.filter(({ rowCount }) => rowCount > 0);
      const ranges = copyRanges(spans, 1000);
      if (used.length === 0) return assert.deepEqual(ranges, []);
      const least = used.reduce((min, s) => (s.minTime < min ? s.minTime : min), used[0]!.minTime);
      const most = used.reduce((max, s) => (s.maxTime > max ? s.maxTime : max), used[0]!.maxTime);
      assert.equal(ranges[0]?.minTimeNs, least);
      assert.equal(ranges.at(-1)?.maxTimeNs, most);
      for (const [i, { minTimeNs, maxTimeNs }] of ranges.entries()) {
        assert.ok(minTimeNs <= maxTimeNs);
        const next = ranges[i + 1];
        if (next !== undefined) assert.equal(next.minTimeNs, maxTimeNs + 1n);
      }
      const rowCount = used.reduce((sum, s) => sum + s.rowCount, 0);
      assert.ok(ranges.length <= rowCount / 1000 + 2 * used.length + 2);
    }),
  );
});

it('splits a single span evenly', () => {
  const ranges = copyRanges([{ minTime: 0n, maxTime: 9999n, rowCount: 10_000 }], 2500);
  assert.deepEqual(
    ranges.map(({ minTimeNs, maxTimeNs }) => [Number(minTimeNs), Number(maxTimeNs)]),
    [
      [0, 2499],
      [2500, 4999],
      [5000, 7499],
      [7500, 9999],
    ],
  );
});

it('collects the seconds of written rows, also before 1970', () => {
  const dirty = new DirtyTimes();
  dirty.add(BigInt64Array.of(-1n, 1_500_000_000n, 0n, 5_000_000_000n));
  assert.deepEqual(dirty.take(), [
    { minTimeNs: -1_000_000_000n, maxTimeNs: 1_999_999_999n },
    { minTimeNs: 5_000_000_000n, maxTimeNs: 5_999_999_999n },
  ]);
  assert.deepEqual(dirty.take(), []);
  dirty.addAll();
  assert.equal(dirty.ranges(), 'all');
  assert.equal(dirty.take(), 'all');
  assert.deepEqual(dirty.take(), []);
});

it('joins ranges over the smallest gaps, if there are many', () => {
  const dirty = new DirtyTimes();
  // Gaps of 1, 2, 3, ... seconds: 600 ranges, of which the first 101 are joined.
  const starts = Array.from({ length: 600 }, (_, i) => BigInt((i * (i + 3)) / 2));
  dirty.add(BigInt64Array.from(starts, (second) => second * 1_000_000_000n));
  const ranges = dirty.take();
  assert.ok(ranges !== 'all');
  assert.equal(ranges.length, 500);
  const ends = ranges.map(({ minTimeNs, maxTimeNs }) => [minTimeNs, maxTimeNs + 1n]);
  const second = (i: number): bigint => (starts[i] ?? 0n) * 1_000_000_000n;
  assert.deepEqual(ends.slice(0, 2), [
    [0n, second(100) + 1_000_000_000n],
    [second(101), second(101) + 1_000_000_000n],
  ]);
  assert.equal(ends.at(-1)?.[0], second(599));
});

it('clips spans to a range, with a part of their rows', () => {
  const spans = [
    { minTime: 0n, maxTime: 99n, rowCount: 1000 },
    { minTime: 60n, maxTime: 60n, rowCount: 7 },
    { minTime: 200n, maxTime: 300n, rowCount: 5 },
  ];
  assert.deepEqual(spansWithin(spans, { minTimeNs: 50n, maxTimeNs: 150n }), [
    { minTime: 50n, maxTime: 99n, rowCount: 500 },
    { minTime: 60n, maxTime: 60n, rowCount: 7 },
  ]);
});
