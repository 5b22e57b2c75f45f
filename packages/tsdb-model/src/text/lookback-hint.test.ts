// Source: query-languages, "Look-back".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lookbackHint, printLookbackHint } from './lookback-hint.js';

describe('the hint lookback', () => {
  it('has a duration, or the five minutes of Prometheus', () => {
    for (const [comment, ns] of [
      ['/*+ lookback(1h) */', 3_600_000_000_000n],
      ['/*+lookback(1h30m)*/', 5_400_000_000_000n],
      ['/*+  LOOKBACK ( 2d )\n*/', 172_800_000_000_000n],
      ['/*+ lookback(0s) */', 0n],
      ['/*+ lookback(366d) */', 31_622_400_000_000_000n],
      ['/*+ lookback */', 300_000_000_000n],
    ] as const)
      assert.deepEqual(lookbackHint(comment), { ns }, comment);
  });

  it('is rejected above 366 days and with anything else', () => {
    for (const comment of [
      '/*+ lookback(366d1ns) */',
      '/*+ lookback() */',
      '/*+ lookback(-1h) */',
      '/*+ lookback(1) */',
      '/*+ lookback(1h */',
      '/*+ lookback 1h */',
      '/*+ lookback(1h) parallel(2) */',
    ])
      assert.deepEqual(lookbackHint(comment), {
        problem: `invalid hint ${comment}; use /*+ lookback(1h) */ with a duration of at most 366d, or lookback(0s) for no look-back`,
      });
  });

  it('is not any other comment', () => {
    for (const comment of ['/* lookback(1h) */', '/*+ parallel(2) */', '/*+ lookbacks(1h) */'])
      assert.equal(lookbackHint(comment), undefined);
  });

  it('is printed in a form that it reads', () => {
    for (const ns of [0n, 1n, 1_500n, 5_400_000_000_000n, 31_622_400_000_000_000n])
      assert.deepEqual(lookbackHint(printLookbackHint(ns)), { ns });
  });
});
