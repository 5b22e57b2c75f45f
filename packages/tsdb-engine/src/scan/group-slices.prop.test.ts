import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { GroupSlices, type RowGroups } from './group-slices.js';
import type { GuessedSlice } from './time-slices.js';

const BOUNDS = { minTime: 0n, maxTime: 1_000_000_000n };

function groupsOf(rowCounts: readonly number[]): RowGroups {
  return {
    tags: ['host'],
    count: rowCounts.length,
    rowCount: rowCounts.reduce((a, b) => a + b, 0),
    rowCountOf: (group) => rowCounts[group] ?? 0,
    tagValuesOf: (group) => [`h${group}`],
  };
}

const anyOutcome = fc.record({
  rowCount: fc.integer({ min: 0, max: 1_000_000 }),
  duckDbMs: fc.integer({ min: 0, max: 1000 }),
  clientMs: fc.integer({ min: 0, max: 1000 }),
});

const numberOf = (values: readonly string[] | undefined): number =>
  Number(values?.[0]?.slice(1) ?? Number.NaN);

describe('GroupSlices', () => {
  it('returns all groups in order, complete or divided by time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2_000_000 }), { minLength: 1, maxLength: 60 }),
        fc.constantFrom(true, false, undefined),
        fc.array(anyOutcome, { minLength: 1, maxLength: 8 }),
        (rowCounts, isDescending, outcomes) => {
          const groups = groupsOf(rowCounts);
          const spans = [{ ...BOUNDS, rowCount: groups.rowCount }];
          const slices = new GroupSlices({ groups, bounds: BOUNDS, spans, isDescending });
          let nextGroup = 0;
          let within: GuessedSlice[] = [];
          for (let count = 0; ; count++) {
            const slice = slices.next();
            if (slice === undefined) break;
            slices.ended(outcomes[count % outcomes.length] as (typeof outcomes)[number]);
            assert.ok(count < 10_000, 'there is no end of them');
            const { minTime, maxTime, series } = slice;
            assert.deepEqual(series?.tags, ['host']);
            const [first, last] = [numberOf(series?.first), numberOf(series?.last)];
            assert.equal(first, nextGroup);
            assert.ok(last >= first);
            const isWhole = minTime === BOUNDS.minTime && maxTime === BOUNDS.maxTime;
            if (!isWhole) {
              assert.equal(first, last);
              assert.notEqual(isDescending, undefined);
              within.push(slice);
              const inTime = isDescending ? within.toReversed() : within;
              inTime.slice(1).forEach((each, i) => {
                assert.equal(each.minTime, (inTime[i]?.maxTime ?? 0n) + 1n);
              });
              const isLast = isDescending ? minTime === BOUNDS.minTime : maxTime === BOUNDS.maxTime;
              if (!isLast) continue;
              const isBegun = isDescending
                ? within[0]?.maxTime === BOUNDS.maxTime
                : within[0]?.minTime === BOUNDS.minTime;
              assert.ok(isBegun, 'the group is not whole');
            }
            within = [];
            nextGroup = last + 1;
          }
          assert.equal(nextGroup, rowCounts.length);
          assert.equal(within.length, 0);
        },
      ),
      { numRuns: caseCount(300) },
    );
  });

  it('keeps slices within the memory for groups of any size', () => {
    const rowCounts = [100, 900_000, 100, 100, 50_000, 100];
    const groups = groupsOf(rowCounts);
    const spans = [{ ...BOUNDS, rowCount: groups.rowCount }];
    const slices = new GroupSlices({ groups, bounds: BOUNDS, spans, isDescending: false });
    const sizes: number[] = [];
    for (;;) {
      const slice = slices.next({ fitting: 40_000, least: 1000 });
      if (slice === undefined) break;
      sizes.push(slice.rowCount);
      slices.ended({ rowCount: slice.rowCount, duckDbMs: 1, clientMs: 100 });
    }
    assert.ok(Math.max(...sizes) <= 60_000, `${sizes}`);
  });
});
