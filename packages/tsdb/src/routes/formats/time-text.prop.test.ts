import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caseCount } from '@plinth/kernel/testing';
import fc from 'fast-check';
import { TimeWriter } from './time-text.js';

/** Formats with the calendar of the runtime, and the fraction with 64-bit arithmetic. */
function expectedText(timeNs: bigint): string {
  const fraction = BigInt.asUintN(
    64,
    ((timeNs % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n,
  );
  const second = new Date(Number((timeNs - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  if (fraction === 0n) return second;
  const digits = String(fraction).padStart(9, '0');
  return `${second}.${digits.replace(/(?:000){1,2}$/, '')}`;
}

describe('TimeWriter', () => {
  const writer = new TimeWriter('', 'thousands');

  it('formats every 64-bit time like the calendar of the runtime', () => {
    const unit = fc.constantFrom(1n, 1000n, 1_000_000n, 1_000_000_000n);
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), unit, (time, size) => {
        const timeNs = BigInt.asIntN(64, time - (time % size));
        assert.equal(writer.text(timeNs), expectedText(timeNs));
      }),
      { numRuns: caseCount(2000) },
    );
  });

  it('is exact around whole seconds, where a double is not', () => {
    for (const second of [-9_223_372_036n, -86_400n, -1n, 0n, 1n, 4_294_967_296n, 9_223_372_036n]) {
      for (const offset of [-1025n, -1n, 0n, 1n, 1025n]) {
        const timeNs = second * 1_000_000_000n + offset;
        assert.equal(writer.text(timeNs), expectedText(timeNs), String(timeNs));
      }
    }
  });
});
