// Source: docs/adr/0082-file-commits.md, "Testing". PLINTH_SIMULATION_STEPS and
// PLINTH_SIMULATION_SEED set the number of steps and the first seed, PLINTH_SIMULATION_LANES the
// number of concurrent seeds.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runShortSimulation } from './short-simulation.js';
import { simulateSeeds } from './simulate-seeds.js';

it('contains exactly the acknowledged data through many steps', async () => {
  const stepCount = Number(process.env['PLINTH_SIMULATION_STEPS'] ?? 100_000);
  const firstSeed = Number(process.env['PLINTH_SIMULATION_SEED'] ?? Date.now() % 1_000_000);
  const laneCount = Number(process.env['PLINTH_SIMULATION_LANES'] ?? 1);
  assert.ok(stepCount > 0, 'PLINTH_SIMULATION_STEPS is a positive number');
  assert.ok(laneCount > 0, 'PLINTH_SIMULATION_LANES is a positive number');
  const points = await simulateSeeds({
    ...{ firstSeed, stepCount, laneCount },
    stepsPerSeed: 2000,
    huntShare: 0.03,
  });
  process.stdout.write(`not failed: ${points.untouched().join(', ') || 'none'}\n`);
});

for (const firstSeed of [100, 200, 300])
  it(`runs the seeds of the full run, from ${firstSeed}, with more steps`, () =>
    runShortSimulation(firstSeed, 7000));
