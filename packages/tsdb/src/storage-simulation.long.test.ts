// Source: docs/adr/0082-what-stands-behind-a-commit.md, "How it is tested". PLINTH_SIMULATION_STEPS and PLINTH_SIMULATION_SEED
// choose how long and what.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FailurePoints } from './testing/simulation/failure-points.js';
import { simulate } from './testing/simulation/simulate.js';

/** On a folder of its own each. */
const STEPS_PER_SEED = 20_000;
const STEPS_PER_REPORT = 1000;

it('has what was acknowledged and nothing else through many steps', async () => {
  const stepCount = Number(process.env['PLINTH_SIMULATION_STEPS'] ?? 2_000);
  assert.ok(stepCount > 0, 'PLINTH_SIMULATION_STEPS is a positive number');
  let seed = Number(process.env['PLINTH_SIMULATION_SEED'] ?? Date.now() % 1_000_000);
  const points = new FailurePoints();
  for (let done = 0; done < stepCount; seed++) {
    const count = Math.min(STEPS_PER_SEED, stepCount - done);
    const report = (step: number): void => {
      if ((step + 1) % STEPS_PER_REPORT !== 0) return;
      // At once, because the runner shows diagnostics only when a test has ended.
      process.stdout.write(
        `seed ${seed}: ${done + step + 1} steps, ${points.failedCount} failure points\n`,
      );
    };
    await simulate({ seed, stepCount: count, points, onStep: report });
    done += count;
  }
  process.stdout.write(`not failed: ${points.untouched().join(', ') || 'none'}\n`);
});
