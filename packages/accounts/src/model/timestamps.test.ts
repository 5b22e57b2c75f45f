import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseTimestamp, timestamp } from './timestamps.js';

it('accepts only timestamps with a four-digit year and rejects hour 24', () => {
  const taken: readonly (readonly [string, string])[] = [
    ['2026-01-01T01:30:00.123456+01:00', '2026-01-01T00:30:00.123Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T22:59:59-01:00', '9999-12-31T23:59:59.000Z'],
  ];
  for (const [text, answered] of taken) {
    const ms = parseTimestamp(text);
    assert.equal(ms === undefined ? undefined : timestamp(ms), answered, text);
  }
  for (const text of [
    '9999-12-31T23:59:59-01:00',
    '0000-01-01T00:00:00+01:00',
    '2026-01-01T24:00:00Z',
    '2026-02-30T00:00:00Z',
  ]) {
    assert.equal(parseTimestamp(text), undefined, text);
  }
});
