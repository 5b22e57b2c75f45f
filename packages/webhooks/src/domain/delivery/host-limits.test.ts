// Source: webhooks, section 7.4.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AttemptRate, Breaker } from './host-limits.js';

describe('AttemptRate', () => {
  /** Times of `count` attempts, each as early as the rate allows. */
  const timesMs = (perSec: number, count: number, startMs = 0): readonly number[] => {
    const rate = new AttemptRate(perSec, 0);
    let nowMs = startMs;
    return Array.from({ length: count }, () => {
      nowMs += rate.delayMs(nowMs);
      assert.equal(rate.delayMs(nowMs), 0);
      rate.take(nowMs);
      return nowMs;
    });
  };

  it('allows a burst of one second, then a steady rate', () => {
    assert.deepEqual(timesMs(5, 8), [0, 0, 0, 0, 0, 200, 400, 600]);
    assert.deepEqual(timesMs(0.5, 3), [0, 2000, 4000]);
    assert.deepEqual(timesMs(2, 4, 60_000), [60_000, 60_000, 60_500, 61_000]);
  });
});

describe('Breaker', () => {
  function countUntilOpen(failures: readonly boolean[], stepMs = 1): number {
    const breaker = new Breaker();
    for (const [index, isFailure] of failures.entries()) {
      breaker.begin();
      breaker.end(isFailure, index * stepMs);
      if (breaker.state === 'open') return index + 1;
    }
    return 0;
  }
  const share = (failed: number, count: number) =>
    Array.from({ length: count }, (_, index) => index >= count - failed);

  it('opens when 70 % of at least ten attempts of five minutes failed', () => {
    assert.equal(countUntilOpen(share(9, 9)), 0);
    assert.equal(countUntilOpen(share(10, 10)), 10);
    assert.equal(countUntilOpen(share(7, 10)), 10);
    assert.equal(countUntilOpen(share(6, 10)), 0);
    assert.equal(countUntilOpen(share(30, 30), 60_000), 0, 'at most six in five minutes');
    assert.equal(countUntilOpen(share(30, 30), 30_000), 10);
  });

  it('lets one probe through after 30 seconds, whose result closes or reopens it', () => {
    const breaker = new Breaker();
    const fail = (nowMs: number) => {
      breaker.begin();
      breaker.end(true, nowMs);
    };
    assert.equal(breaker.delayMs(0), 0);
    for (let count = 0; count < 10; count += 1) fail(0);
    assert.deepEqual([breaker.delayMs(0), breaker.delayMs(30_000)], [30_000, 0]);
    breaker.begin();
    assert.deepEqual([breaker.state, breaker.delayMs(30_000)], ['probing', 1000]);
    breaker.end(true, 31_000);
    assert.deepEqual([breaker.state, breaker.delayMs(31_000)], ['open', 30_000]);
    breaker.begin();
    breaker.end(false, 61_000);
    assert.deepEqual([breaker.state, breaker.delayMs(61_000)], ['closed', 0]);
    // The earlier failures no longer count.
    for (let count = 0; count < 9; count += 1) fail(62_000);
    assert.equal(breaker.state, 'closed');
    fail(62_000);
    assert.equal(breaker.state, 'open');
  });

  it('does not count aborted attempts, and replaces an aborted probe', () => {
    const breaker = new Breaker();
    for (let count = 0; count < 20; count += 1) {
      breaker.begin();
      breaker.abort(0);
    }
    assert.equal(breaker.state, 'closed');
    for (let count = 0; count < 10; count += 1) breaker.end(true, 0);
    breaker.begin();
    breaker.abort(30_000);
    assert.deepEqual([breaker.state, breaker.delayMs(30_000)], ['open', 0]);
    breaker.begin();
    breaker.end(false, 30_001);
    assert.equal(breaker.state, 'closed');
  });
});
