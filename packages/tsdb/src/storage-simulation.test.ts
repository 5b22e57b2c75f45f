// Source: docs/adr/0082-what-stands-behind-a-commit.md, "How it is tested".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FailurePoints } from './testing/simulation/failure-points.js';
import { simulate } from './testing/simulation/simulate.js';

/** Two at a time, as there are cores. */
const SEEDS = [1, 2];
const STEP_COUNT = 1000;

describe('storage of which any call may fail', { concurrency: true }, () => {
  const points = new FailurePoints();
  for (const seed of SEEDS) {
    it(`has what was acknowledged and nothing else, seed ${seed}`, async () => {
      await simulate({ seed, stepCount: STEP_COUNT, points });
      assert.ok(points.failedCount > 0, 'calls have failed');
    });
  }
});
