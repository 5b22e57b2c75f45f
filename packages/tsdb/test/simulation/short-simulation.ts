import assert from 'node:assert/strict';
import { simulateSeeds } from './simulate-seeds.js';

/** Three test files with this many steps take two minutes on two cores. */
const STEP_COUNT = 7000;
/** Most steps are writes, and few of those are disturbed. */
const MIN_FAILURE_POINTS = 40;

/** The part that `npm test` runs: it fits in a test file's time limit on a busy machine. */
export async function runShortSimulation(firstSeed: number): Promise<void> {
  const points = await simulateSeeds({
    firstSeed,
    stepCount: STEP_COUNT,
    stepsPerSeed: STEP_COUNT / 4,
    laneCount: 2,
    huntShare: 0.006,
  });
  const { failedCount } = points;
  assert.ok(failedCount >= MIN_FAILURE_POINTS, `only ${failedCount} calls have failed`);
  process.stdout.write(`not failed: ${points.untouchedKinds().join(', ') || 'none'}\n`);
}
