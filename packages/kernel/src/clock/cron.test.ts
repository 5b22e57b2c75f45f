// Source: processing-engine, "Cron grammar".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CronSchedule } from './cron.js';

const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 19);

/** The next times after `after`. */
function times(expression: string, after: string, count: number): (string | undefined)[] {
  const schedule = CronSchedule.parse(expression);
  assert.ok(schedule !== undefined, expression);
  const found: (string | undefined)[] = [];
  let ms: number | undefined = Date.parse(`${after}Z`);
  for (let i = 0; i < count && ms !== undefined; i++) {
    ms = schedule.nextMs(ms);
    found.push(iso(ms));
  }
  return found;
}

describe('CronSchedule', () => {
  it('fires on weekdays only for 1-5', () => {
    // 2026-11-20 is a Friday.
    assert.deepEqual(times('0 0 6 * * 1-5', '2026-11-19T06:00:00', 3), [
      '2026-11-20T06:00:00',
      '2026-11-23T06:00:00',
      '2026-11-24T06:00:00',
    ]);
    assert.deepEqual(times('0 0 6 * * 7', '2026-11-19T06:00:00', 1), ['2026-11-22T06:00:00']);
    assert.deepEqual(times('0 0 6 * * Sun', '2026-11-19T06:00:00', 1), ['2026-11-22T06:00:00']);
  });

  it('requires both day of month and day of week to match', () => {
    // After November 2026, the first two Fridays the 13th are in August 2027 and October 2028.
    assert.deepEqual(times('0 0 0 13 * fri', '2026-11-21T00:00:00', 2), [
      '2027-08-13T00:00:00',
      '2028-10-13T00:00:00',
    ]);
  });

  it('parses steps, ranges, lists, names, years and shorthands', () => {
    assert.deepEqual(times('*/20 59 23 31 dec ?', '2026-12-31T23:59:10', 3), [
      '2026-12-31T23:59:20',
      '2026-12-31T23:59:40',
      '2027-12-31T23:59:00',
    ]);
    assert.deepEqual(times('0 5/25 1-2 * * *', '2026-01-01T00:00:00', 5), [
      '2026-01-01T01:05:00',
      '2026-01-01T01:30:00',
      '2026-01-01T01:55:00',
      '2026-01-01T02:05:00',
      '2026-01-01T02:30:00',
    ]);
    assert.deepEqual(times('1,3 0 0 1 January * 2030', '2026-01-01T00:00:00', 3), [
      '2030-01-01T00:00:01',
      '2030-01-01T00:00:03',
      undefined,
    ]);
    assert.deepEqual(times('@monthly', '2026-01-31T12:00:00', 1), ['2026-02-01T00:00:00']);
    assert.deepEqual(times('@hourly', '2026-01-31T12:00:00', 1), ['2026-01-31T13:00:00']);
    assert.deepEqual(times('* * * * * *', '2026-01-31T12:00:00.500', 1), ['2026-01-31T12:00:01']);
  });

  it('finds leap days, and returns undefined for days that never occur', () => {
    assert.deepEqual(times('0 0 0 29 2 *', '2026-01-01T00:00:00', 2), [
      '2028-02-29T00:00:00',
      '2032-02-29T00:00:00',
    ]);
    assert.deepEqual(times('0 0 0 30 2 *', '2026-01-01T00:00:00', 1), [undefined]);
  });

  it('rejects invalid schedules', () => {
    for (const text of [
      '',
      '* * * * *',
      '* * * * * * * *',
      '60 * * * * *',
      '* * 24 * * *',
      '* * * 0 * *',
      '* * * * 13 *',
      '* * * * * 8',
      '5-1 * * * * *',
      '*/0 * * * * *',
      '? * * * * *',
      'a * * * * *',
      '*-5 * * * * *',
      '@never',
      '1,,2 * * * * *',
    ]) {
      assert.equal(CronSchedule.parse(text), undefined, text);
    }
  });

  it('reports which field is wrong and what to write instead', () => {
    const faults: readonly (readonly [expression: string, fault: RegExp])[] = [
      ['0 6 * * *', /6 fields \(second, minute, .*\) or 7 .* has 5; write "0 0 6 \* \* \*"/],
      ['6 * * *', /6 fields .* has 4$/],
      ['0 0 0 1 1 * 2030 9', /6 fields .* has 8$/],
      ['', /6 fields .* the expression is empty$/],
      ['@never', /^unknown shorthand "@never"; use @yearly, @monthly, @weekly, @daily, @hourly$/],
      ['0 60 * * * *', /^invalid minute "60"; use 0 to 59, /],
      ['0 0 0 * 13 *', /^invalid month "13"; use 1 to 12 or a name, /],
      ['0 0 0 * * Freitag', /^invalid day of week "Freitag"; use 0 to 7 or a name, /],
      ['0 0 0 1 1 * 1900', /^invalid year "1900"; use 1970 to 2100, /],
    ];
    for (const [expression, fault] of faults) {
      assert.match(CronSchedule.faultOf(expression) ?? '', fault, expression);
    }
    assert.equal(CronSchedule.faultOf('0 0 6 * * *'), undefined);
  });
});
