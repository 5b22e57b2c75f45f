// Source: docs/CONSOLE-ACCOUNTS.md, "Advance a test clock".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addMonth, parseUtc, utcText } from './utc-text.js';

it('reads the times that it shows', () => {
  assert.equal(utcText(1_800_000_000), '2027-01-15 08:00:00');
  for (const text of ['2027-01-15 08:00:00', '2027-01-15T08:00:00Z', ' 2027-01-15 08:00 '])
    assert.equal(parseUtc(text), 1_800_000_000, text);
  assert.equal(parseUtc('2027-01-15'), 1_799_971_200);
  for (const text of ['', 'soon', '2027-13-01', '2027-01-15 8:00'])
    assert.equal(parseUtc(text), undefined, text);
});

it('adds a month, and stops at its last day', () => {
  const after = (text: string) => utcText(addMonth(parseUtc(text) ?? 0));
  assert.equal(after('2026-01-31 10:00:00'), '2026-02-28 10:00:00');
  assert.equal(after('2026-12-15 00:00:00'), '2027-01-15 00:00:00');
});
