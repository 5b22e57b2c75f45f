import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { TagValues } from './tag-values.js';

const valueArb = fc.oneof(
  fc.string({ minLength: 1, unit: 'binary' }),
  fc.string({ minLength: 1, unit: 'binary-ascii' }),
  fc.nat(40).map((n) => `pod-${n}`),
);

describe('TagValues', () => {
  it('numbers values like a map of strings, regardless of when strings are read', () => {
    const steps = fc.array(fc.tuple(valueArb, fc.constantFrom('one', 'all', 'none')), {
      maxLength: 600,
    });
    fc.assert(
      fc.property(steps, fc.integer(), (given, multiplier) => {
        const values = new TagValues(multiplier);
        const codes = new Map<string, number>();
        for (const [value, asked] of given) {
          const bytes = Buffer.from(`,${value},`);
          const known = codes.get(value);
          assert.equal(values.find(bytes, 1, bytes.length - 1), known ?? 0);
          const code = values.findOrAdd(bytes, 1, bytes.length - 1);
          assert.equal(code, known ?? codes.size + 1);
          codes.set(value, code);
          if (asked === 'one') assert.equal(values.text(code), value);
          if (asked === 'all') assert.deepEqual(values.texts, [undefined, ...codes.keys()]);
        }
        assert.equal(values.count, codes.size + 1);
        for (const [value, code] of codes) {
          const target = Buffer.alloc(values.sizeOf(code));
          assert.equal(values.put(code, target, 0), target.length);
          assert.equal(target.toString(), value);
          assert.equal(values.text(code), value);
        }
        assert.deepEqual(values.texts, [undefined, ...codes.keys()]);
      }),
      { numRuns: caseCount(60) },
    );
  });
});
