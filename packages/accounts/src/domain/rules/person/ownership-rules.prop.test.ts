import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { checkOwnShare, exceedsWhole, isAtLeast } from './ownership-rules.js';

const FRACTION = 10;
/** Shares as integers in units of 1e-10 percent. */
const units = fc.bigInt({ min: 0n, max: 100n * 10n ** BigInt(FRACTION) });

function toDecimal(amount: bigint): string {
  const text = amount.toString().padStart(FRACTION + 1, '0');
  const fraction = text.slice(-FRACTION).replace(/0+$/, '');
  const whole = text.slice(0, -FRACTION);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

describe('shares', () => {
  it('are added without rounding', () => {
    fc.assert(
      fc.property(fc.array(units, { maxLength: 6 }), (amounts) => {
        const relationships = amounts.map((amount) => ({
          owner: true,
          percent_ownership: toDecimal(amount),
        }));
        const total = amounts.reduce((sum, amount) => sum + amount, 0n);
        assert.equal(exceedsWhole(relationships), total > 100n * 10n ** BigInt(FRACTION));
      }),
    );
  });

  it('count only for owners', () => {
    assert.equal(
      exceedsWhole([{ percent_ownership: '60' }, { owner: true, percent_ownership: '60' }]),
      false,
    );
    assert.equal(exceedsWhole([{ owner: true }, undefined]), false);
  });

  it('must be above zero for an owner, in any notation of zero', () => {
    for (const percent_ownership of ['0', '0.0', '0.0000000000', '000']) {
      const violation = checkOwnShare('relationship', { owner: true, percent_ownership });
      assert.equal(violation?.code, 'person_percent_ownership_invalid', percent_ownership);
      assert.equal(checkOwnShare('relationship', { percent_ownership }), undefined);
    }
    for (const percent_ownership of ['0.8', '0.0000000001', '100']) {
      assert.equal(checkOwnShare('relationship', { owner: true, percent_ownership }), undefined);
    }
  });

  it('can be compared with an integer percentage', () => {
    fc.assert(
      fc.property(units, (amount) => {
        const isEnough = amount >= 25n * 10n ** BigInt(FRACTION);
        assert.equal(isAtLeast(toDecimal(amount), 25), isEnough);
      }),
    );
    assert.equal(isAtLeast(undefined, 25), false);
  });
});
