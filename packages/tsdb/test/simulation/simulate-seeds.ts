import { FailurePoints } from './failure-points.js';
import { simulate } from './simulate.js';

const STEPS_PER_REPORT = 1000;

/**
 * Runs the steps with each seed in its own folder, `laneCount` seeds at a time, because each mostly
 * waits for DuckDB's threads. All share one record of failures. Throws the error of the first
 * failing seed.
 */
export async function simulateSeeds(options: {
  readonly firstSeed: number;
  readonly stepCount: number;
  readonly stepsPerSeed: number;
  readonly laneCount: number;
  /** See `Simulation`. */
  readonly huntShare: number;
}): Promise<FailurePoints> {
  const { firstSeed, stepCount, stepsPerSeed, laneCount, huntShare } = options;
  const points = new FailurePoints();
  const startedMs = performance.now();
  let nextSeed = firstSeed;
  let given = 0;
  let done = 0;
  const onStep = (): boolean => {
    done++;
    if (done % STEPS_PER_REPORT !== 0) return true;
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    const rss = Math.round(process.memoryUsage.rss() / 2 ** 20);
    // Written immediately, because the test runner shows diagnostics only after a test has ended.
    process.stdout.write(
      `${done} steps of ${nextSeed - firstSeed} seeds from ${firstSeed} in ${seconds} s, ${rss} MiB: ` +
        `${points.failedCount} failure points, ${points.leftCount} left\n`,
    );
    return true;
  };
  const lane = async (): Promise<void> => {
    while (given < stepCount) {
      const count = Math.min(stepsPerSeed, stepCount - given);
      given += count;
      await simulate({ seed: nextSeed++, stepCount: count, failing: points, huntShare, onStep });
    }
  };
  const lanes = Array.from({ length: laneCount }, lane);
  try {
    await Promise.all(lanes);
  } catch (error) {
    given = stepCount; // other lanes stop after their seed
    await Promise.allSettled(lanes);
    throw error;
  }
  return points;
}
