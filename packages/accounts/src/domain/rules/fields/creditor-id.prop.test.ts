import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isValidCreditorId, normaliseCreditorId } from './creditor-id.js';

// ISO 7064 MOD 97-10, computed differently: as one large number. The example belongs to the
// Deutsche Bundesbank.

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const toDigits = (text: string): string =>
  [...text].map((c) => (LETTERS.includes(c) ? String(LETTERS.indexOf(c) + 10) : c)).join('');

/** 98 minus the remainder of the number with `00` as its check digits. */
function checkDigits(country: string, national: string): string {
  const rest = BigInt(toDigits(`${national}${country}00`)) % 97n;
  return String(98n - rest).padStart(2, '0');
}

const characters = (pool: string, min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...pool), minLength: min, maxLength: max });
const parts = fc.record({
  country: characters(LETTERS, 2, 2),
  business: characters(`${LETTERS}0123456789`, 3, 3),
  national: characters(`${LETTERS}0123456789`, 1, 28),
});

describe('SEPA creditor identifiers', () => {
  it('are valid with their check digits, whatever the business code', () => {
    assert.ok(isValidCreditorId('DE98ZZZ09999999999'));
    assert.ok(isValidCreditorId('DE98ABC09999999999'));
    fc.assert(
      fc.property(parts, ({ country, business, national }) => {
        const id = `${country}${checkDigits(country, national)}${business}${national}`;
        assert.ok(isValidCreditorId(id), id);
      }),
    );
  });

  it('are invalid with check digits that leave another remainder', () => {
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 96 }), ({ country, business, national }, by) => {
        const right = Number(checkDigits(country, national));
        const wrong = String((right + by) % 97).padStart(2, '0');
        assert.ok(!isValidCreditorId(`${country}${wrong}${business}${national}`));
      }),
    );
  });

  it('may contain blanks and lower-case letters, and have a maximum length', () => {
    assert.equal(normaliseCreditorId(' de98 zzz0 9999 999999 '), 'DE98ZZZ09999999999');
    for (const text of ['', 'DE98ZZZ', 'D998ZZZ09999999999', `DE98ZZZ${'9'.repeat(29)}`]) {
      assert.ok(!isValidCreditorId(text), text);
    }
  });
});
