import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addMonths,
  binFixed,
  binMonths,
  civilFromDays,
  daysFromCivil,
  isoNsOf,
} from './calendar.js';

/** Nanoseconds according to the calendar of the runtime, which is independent of ours. */
const ns = (text: string) => BigInt(Date.parse(`${text}Z`)) * 1_000_000n;

describe('calendar', () => {
  it('formats times with their nanoseconds, also before 1970', () => {
    assert.equal(isoNsOf(1_500_000_001n), '1970-01-01T00:00:01.500000001Z');
    assert.equal(isoNsOf(-1n), '1969-12-31T23:59:59.999999999Z');
  });

  it('agrees with the calendar of the runtime over 600 years', () => {
    for (let day = -110_000; day < 110_000; day += 97) {
      const date = new Date(day * 86_400_000);
      const civil = civilFromDays(day);
      assert.deepEqual(civil, {
        year: date.getUTCFullYear(),
        month: date.getUTCMonth() + 1,
        day: date.getUTCDate(),
      });
      assert.equal(daysFromCivil(civil), day);
    }
  });

  it('clamps the day to the end of the month', () => {
    assert.equal(addMonths(ns('2022-01-31T06:00:00'), 1), ns('2022-02-28T06:00:00'));
    assert.equal(addMonths(ns('2024-03-31T00:00:00'), -1), ns('2024-02-29T00:00:00'));
    assert.equal(addMonths(ns('1970-01-01T00:00:00') - 1n, -1), ns('1969-12-01T00:00:00') - 1n);
  });

  it('floors to bins of a fixed width on both sides of the origin', () => {
    assert.equal(binFixed(20n, 7n, 0n), 14n);
    assert.equal(binFixed(-1n, 7n, 0n), -7n);
    assert.equal(binFixed(-7n, 7n, 0n), -7n);
    assert.equal(binFixed(3n, 10n, 7n), -3n);
  });

  it('counts bins of months from the origin, as the examples of the specification', () => {
    const check = (time: string, width: number, origin: string, start: string) =>
      assert.equal(binMonths(ns(time), width, ns(origin)), ns(start), `${time} ${width}`);
    check('2000-01-31T00:00:00', 1, '2000-02-29T00:00:00', '2000-01-29T00:00:00');
    check('2022-04-01T00:00:00', 3, '2021-05-31T00:04:00', '2022-02-28T00:04:00');
    check('2022-01-01T00:00:00', 5, '1970-01-01T00:00:00', '2021-09-01T00:00:00');
    check('2022-09-01T00:00:00', 37, '1970-01-01T00:00:00', '2022-06-01T00:00:00');
  });
});
