import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decimalText } from './decimal-text.js';

describe('decimalText', () => {
  /** Expected strings: Go, `strconv.FormatFloat(value, 'f', -1, 64)`. */
  it('writes numbers like Go', () => {
    const check = (value: number, text: string) => assert.equal(decimalText(value), text);
    check(0.05, '0.05');
    check(10, '10');
    check(-2.5, '-2.5');
    check(1e-7, '0.0000001');
    check(1.25e-9, '0.00000000125');
    check(-1.25e-9, '-0.00000000125');
    check(1e21, '1000000000000000000000');
    check(1.5e22, '15000000000000000000000');
    check(-1.5e22, '-15000000000000000000000');
    check(Number.POSITIVE_INFINITY, '+Inf');
    check(Number.NEGATIVE_INFINITY, '-Inf');
    check(Number.NaN, 'NaN');
  });

  it('writes every number without an exponent, and reads back to it', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = decimalText(value);
        assert.match(text, /^-?\d+(?:\.\d+)?$/);
        assert.equal(Number(text) + 0, value + 0);
      }),
    );
  });
});
