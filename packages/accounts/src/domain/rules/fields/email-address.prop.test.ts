import assert from 'node:assert/strict';
import { it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { isEmailAddress } from './email-address.js';
import { isEmail } from './libraries.js';

it('agrees with the library on strings that look like addresses', () => {
  const piece = fc.string({
    unit: fc.constantFrom(...'aZ09.-_+@ äxn', 'com', 'xn--', '..', '-a'),
    maxLength: 70,
  });
  const like = fc.tuple(
    piece,
    piece,
    fc.constantFrom('com', 'c', 'co.uk', '1', 'a-b', 'travel', ''),
  );
  fc.assert(
    fc.property(like, ([local, host, end]) => {
      for (const text of [`${local}@${host}.${end}`, `${local}@${end}`, local, `a@${host}.com`]) {
        assert.equal(isEmailAddress(text), isEmail()(text), text);
      }
    }),
    { numRuns: caseCount(2000) },
  );
});

it('agrees with the library on plain addresses of every length', () => {
  const label = fc.string({ unit: fc.constantFrom(...'abzAZ09-'), minLength: 1, maxLength: 66 });
  const labels = fc.array(label, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(label, labels, ([...local], hosts) => {
      const text = `${local.join('')}@${hosts.join('.')}.org`;
      assert.equal(isEmailAddress(text), isEmail()(text), text);
    }),
    { numRuns: caseCount(2000) },
  );
});
