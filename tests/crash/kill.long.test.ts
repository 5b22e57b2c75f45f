// Source: docs/DURABILITY.md, "Recovery". PLINTH_CRASH_ROUNDS and PLINTH_CRASH_SEED set the number of rounds and their content.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runCrashRounds } from './crash-rounds.js';

const ROUNDS_PER_FOLDER = 25;
/** Data folders tested in parallel. */
const LANE_COUNT = 2;

describe('Servers killed hundreds of times under load', () => {
  it('have every acknowledged point once and nothing half-written after each start', async () => {
    const roundCount = Number(process.env['PLINTH_CRASH_ROUNDS'] ?? 500);
    assert.ok(roundCount > 0, 'PLINTH_CRASH_ROUNDS is a positive number');
    const firstSeed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
    let left = roundCount;
    let seed = firstSeed;
    const lane = async () => {
      while (left > 0) {
        const count = Math.min(ROUNDS_PER_FOLDER, left);
        left -= count;
        await runCrashRounds({ seed: seed++, roundCount: count, report: print });
      }
    };
    await Promise.all(Array.from({ length: LANE_COUNT }, lane));
  });
});

/** Writes directly, because the runner shows diagnostics only when a test has ended. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
