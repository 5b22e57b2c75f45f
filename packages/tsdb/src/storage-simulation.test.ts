// Source: docs/adr/0082-what-stands-behind-a-commit.md, "How it is tested".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { FailurePoints } from './testing/simulation/failure-points.js';
import { simulate, TIMES } from './testing/simulation/simulate.js';

const SEED = Number(process.env['PLINTH_SIMULATION_SEED'] ?? 1);
const STEPS = Number(process.env['PLINTH_SIMULATION_STEPS'] ?? 20_000);

it('keeps what was acknowledged, whatever fails', async () => {
  const points = new FailurePoints();
  const start = performance.now();
  await simulate({ seed: SEED, stepCount: STEPS, points, onStep(n) {
    if (n % 500 === 499) for (const [k,[c,t]] of TIMES) process.stdout.write(`${k} ${c} ${(t/c).toFixed(1)}\n`); if (n % 500 === 499) process.stdout.write(`${n + 1} steps, ${Math.round((performance.now() - start) / 1000)} s, ${points.failedCount} points, cpu ${Math.round((process.cpuUsage().user + process.cpuUsage().system)/1e6)} s\n`);
  } });
  assert.deepEqual(points.untouched(), []);
});
