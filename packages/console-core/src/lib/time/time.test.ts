import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bytesText,
  durationText,
  millisText,
  nanosText,
  quantityText,
  shortNumber,
  timeText,
  unitOf,
} from '../units.js';
import { parseDuration } from './duration.js';
import { rangeLabel, resolveRange } from './time-range.js';
import { addMonth, parseAbsolute, parseTimeText } from './time-text.js';

const NOW = Date.parse('2026-11-26T10:20:30.500Z'); // this day is a Thursday
const check = (text: string, expected: string | undefined) => {
  const ms = parseTimeText(text, NOW);
  assert.equal(ms === undefined ? undefined : new Date(ms).toISOString(), expected, text);
};

describe('Times in the picker', () => {
  it('are relative, or RFC 3339 with UTC as the default time zone', () => {
    check('now', '2026-11-26T10:20:30.500Z');
    check('now-1h', '2026-11-26T09:20:30.500Z');
    check('now/d', '2026-11-26T00:00:00.000Z');
    check('now-1d/d', '2026-11-25T00:00:00.000Z');
    check('now/w', '2026-11-23T00:00:00.000Z');
    check('2026-01-02', '2026-01-02T00:00:00.000Z');
    check('2026-01-02 03:04', '2026-01-02T03:04:00.000Z');
    check('2026-01-02T03:04:05+01:00', '2026-01-02T02:04:05.000Z');
  });

  it('are rejected when they are invalid', () => {
    for (const text of [
      '',
      'yesterday',
      'now+1h',
      'now-1y',
      '2026-13-01',
      '2026-1-1',
      '1700000000',
    ])
      check(text, undefined);
    assert.equal(resolveRange({ from: 'now', to: 'now-1h' }, NOW), undefined);
  });

  it('are labeled with the name of a preset', () => {
    assert.equal(rangeLabel({ from: 'now-1h', to: 'now' }), 'Last 1 hour');
    assert.equal(
      rangeLabel({ from: '2026-01-02T03:04:05Z', to: 'now' }),
      '2026-01-02 03:04:05 – now',
    );
  });
});

describe('Durations', () => {
  it('are parsed with their units', () => {
    assert.deepEqual(
      ['30d', ' 1d 6h ', '90m', '2w', '', '5', '5x', 'd', '1h nonsense'].map(parseDuration),
      [2_592_000, 108_000, 5400, 1_209_600, undefined, undefined, undefined, undefined, undefined],
    );
  });
});

describe('Figures', () => {
  it('keep nanoseconds exact, before 1970 as well', () => {
    assert.equal(nanosText(1_700_000_000_123_456_789n), '2023-11-14 22:13:20.123456789');
    assert.equal(nanosText(1_000_000_000n), '1970-01-01 00:00:01');
    assert.equal(nanosText(-1n), '1969-12-31 23:59:59.999999999');
    assert.equal(timeText(1_700_000_000_123), '2023-11-14 22:13:20');
    assert.equal(timeText('2023-11-14T22:13:20.123456Z'), '2023-11-14 22:13:20');
  });

  it('are short', () => {
    assert.deepEqual([0, 1.2345, 1234.56, 12_345, 1.5e9].map(shortNumber), [
      '0',
      '1.234',
      '1234.6',
      '12.35 k',
      '1.5 G',
    ]);
    assert.deepEqual([0, 1023, 1536, 5 * 1024 ** 3].map(bytesText), [
      '0 B',
      '1023 B',
      '1.5 KiB',
      '5.0 GiB',
    ]);
    assert.deepEqual([0.5, 12, 1500, 61_000].map(millisText), [
      '0.50 ms',
      '12 ms',
      '1.50 s',
      '1 min 1 s',
    ]);
    assert.deepEqual([0, 59, 90_061].map(durationText), ['0 s', '59 s', '1 d 1 h']);
  });
});

describe('units of columns', () => {
  it('come from the end of the name', () => {
    const check = (name: string, unit: string): void => assert.equal(unitOf(name), unit, name);
    check('free_bytes', 'bytes');
    check('p95_ms', 'ms');
    check('lag_seconds', 'seconds');
    check('cpu_percent', 'percent');
    check('free_bytes_p95', 'bytes');
    check('free_bytes_count', 'none');
    check('free_bytes_rate', 'none');
    check('usage', 'none');
    check('items', 'none');
  });

  it('are shown with about three digits', () => {
    const check = (value: number, unit: Parameters<typeof quantityText>[1], text: string): void =>
      assert.equal(quantityText(value, unit), text);
    check(0, 'bytes', '0 B');
    check(1023, 'bytes', '1023 B');
    check(1536, 'bytes', '1.5 KiB');
    check(12.34 * 1024 ** 3, 'bytes', '12.3 GiB');
    check(0.0125, 'ms', '12.5 µs');
    check(1.239, 'ms', '1.24 ms');
    check(123.9, 'ms', '124 ms');
    check(4.567, 'seconds', '4.57 s');
    check(0.02, 'seconds', '20 ms');
    check(3661, 'seconds', '1 h 1 min');
    check(-90, 'seconds', '−1 min 30 s');
    check(99.95, 'percent', '100 %');
    check(12_345, 'none', '12.35 k');
    check(Number.NaN, 'ms', '–');
  });
});

it('refuses impossible dates, also in the time range', () => {
  for (const text of ['2027-01-15 08:00:00', '2027-01-15T09:00:00+01:00', ' 2027-01-15 08:00 '])
    assert.equal(parseAbsolute(text), 1_800_000_000_000, text);
  assert.equal(parseAbsolute('2028-02-29'), 1_835_395_200_000);
  const impossible = ['2027-13-01', '2026-02-29', '2026-02-30', '2027-04-31', '2027-01-15 24:00'];
  for (const text of ['', 'soon', '2027-01-15 8:00', ...impossible]) {
    assert.equal(parseAbsolute(text), undefined, text);
    assert.equal(parseTimeText(text, 0), undefined, text);
  }
});

it('adds a month, and stops at its last day', () => {
  const after = (text: string): string =>
    new Date(addMonth((parseAbsolute(text) ?? 0) / 1000) * 1000).toISOString();
  assert.equal(after('2026-01-31 10:00:00'), '2026-02-28T10:00:00.000Z');
  assert.equal(after('2026-12-15 00:00:00'), '2027-01-15T00:00:00.000Z');
});
