import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ageAt, dayStartMs } from './calendar.js';

const DAY_MS = 86_400_000;
const dates = fc.record({
  year: fc.integer({ min: -5, max: 10_005 }),
  month: fc.integer({ min: -1, max: 14 }),
  day: fc.integer({ min: -1, max: 33 }),
});

describe('days', () => {
  it('exist if the month has that many days', () => {
    fc.assert(
      fc.property(dates, (date) => {
        const { year, month, day } = date;
        const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
        const lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        const length = lengths[month - 1] ?? 0;
        const exists = year >= 0 && year <= 9999 && day >= 1 && day <= length;
        assert.equal(dayStartMs(date) !== undefined, exists, JSON.stringify(date));
      }),
    );
  });

  it("start at the platform calendar's instant, also in the first centuries", () => {
    assert.equal(dayStartMs({ year: 1970, month: 1, day: 1 }), 0);
    assert.equal(dayStartMs({ year: 2024, month: 2, day: 29 }), Date.UTC(2024, 1, 29));
    assert.equal(dayStartMs({ year: 50, month: 1, day: 1 }), Date.parse('0050-01-01T00:00:00Z'));
    assert.equal(dayStartMs({ year: 1990, month: 1 }), undefined);
    assert.equal(dayStartMs({ year: 1990.5, month: 1, day: 1 }), undefined);
  });

  it('increase the age on the birthday and not before', () => {
    const birth = { year: 2000, month: 6, day: 15 };
    const birthdayMs = Date.UTC(2013, 5, 15);
    assert.equal(ageAt(birth, birthdayMs - 1), 12);
    assert.equal(ageAt(birth, birthdayMs), 13);
    assert.equal(ageAt({ year: 2000, month: 2, day: 29 }, Date.UTC(2013, 1, 28)), 12);
    assert.equal(ageAt({ year: 2000, month: 2, day: 29 }, Date.UTC(2013, 1, 28) + DAY_MS), 13);
  });
});
