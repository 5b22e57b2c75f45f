// Source: rate-limits, section 14.3. Without Redis, each node applies its share of every limit,
// based on the last known number of nodes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_RULES } from '../model/limit-store.js';
import { UNLIMITED } from '../model/resource.js';
import { newCaller, RESOURCES } from '../testing/limit-store-contract.js';
import { NodeShares } from './node-shares.js';

describe('NodeShares', () => {
  it('divides shared limits by the current number of nodes, rounded up', () => {
    let nodeCount = 1;
    const { rules } = new NodeShares(DEFAULT_RULES, () => nodeCount);
    assert.deepEqual({ ...rules }, DEFAULT_RULES);
    nodeCount = 3;
    assert.deepEqual([rules.concurrency, rules.pointsRest, rules.contentHour], [34, 300, 167]);
    // Rules that concern one node or one response are not divided.
    const { banThreshold, banMs, minRetryAfterSec, minuteMs } = DEFAULT_RULES;
    assert.deepEqual(
      [rules.banThreshold, rules.banMs, rules.minRetryAfterSec, rules.minuteMs],
      [banThreshold, banMs, minRetryAfterSec, minuteMs],
    );
  });

  it("returns a caller's share of the primary limits, and keeps unlimited resources", () => {
    const shares = new NodeShares(DEFAULT_RULES, () => 3);
    const caller = newCaller(new Map([['core', { limit: 100, windowSec: 60 }]]));
    const { limits } = shares.shareOf(caller);
    const core = RESOURCES.need('core').index;
    assert.deepEqual([limits.limit[core], limits.windowSec[core]], [34, 60]);
    for (const [index, limit] of caller.limits.limit.entries()) {
      if (limit === UNLIMITED) assert.equal(limits.limit[index], UNLIMITED);
    }
    assert.equal(shares.shareOf(caller).limits, limits);
  });
});
