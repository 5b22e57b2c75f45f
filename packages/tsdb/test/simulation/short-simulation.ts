import assert from 'node:assert/strict';
import { simulateSeeds } from './simulate-seeds.js';

/** Three test files with this many steps take a minute on two cores. `storage-simulation.long.test.ts` takes more. */
const STEP_COUNT = 2000;
/** Most steps are writes, and few of those are disturbed. */
const MIN_FAILURE_SHARE = 40 / 7000;

/** The part that `npm run test:full` runs: it fits in a test file's time limit on a busy machine. */
export async function runShortSimulation(
  firstSeed: number,
  stepCount: number = STEP_COUNT,
): Promise<void> {
  const points = await simulateSeeds({
    firstSeed,
    stepCount,
    stepsPerSeed: stepCount / 4,
    laneCount: 2,
    huntShare: 0.01,
  });
  const { failedCount } = points;
  const minCount = MIN_FAILURE_SHARE * stepCount;
  assert.ok(failedCount >= minCount, `only ${failedCount} calls have failed`);
  process.stdout.write(`not failed: ${points.untouchedKinds().join(', ') || 'none'}\n`);
}
