// Source: docs/adr/0082-what-stands-behind-a-commit.md, "How it is tested". The long form of it runs any number of other seeds.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { simulateSeeds } from './testing/simulation/simulate-seeds.js';

/** Two minutes of two cores. */
const STEP_COUNT = 20_000;
const LANE_COUNT = 3;
/** Most steps are writes, and few of them make calls of each kind. */
const MIN_FAILURE_POINTS = 150;

it('has what was acknowledged and nothing else through many steps with failing calls', async () => {
  const points = await simulateSeeds({
    firstSeed: 1,
    stepCount: STEP_COUNT,
    stepsPerSeed: 2000,
    laneCount: LANE_COUNT,
    huntShare: 0.01,
  });
  assert.ok(points.failedCount >= MIN_FAILURE_POINTS, `${points.failedCount} calls have failed`);
  assert.deepEqual(points.untouchedKinds(), [], 'kinds of calls of which none has failed');
});
