// Source: docs/STORAGE-ENGINE.md, "Deletion". PLINTH_CRASH_ROUNDS and PLINTH_CRASH_SEED set the number of rounds and their content.
import { describe, it } from 'node:test';
import { runDeletionRounds } from './deletion-rounds.js';

const ROUNDS_PER_FOLDER = 25;

describe('Servers killed hundreds of times while things are deleted and restored', () => {
  it('keep the result of the acknowledged requests, and no file of permanently deleted data', async () => {
    const roundCount = Number(process.env['PLINTH_CRASH_ROUNDS'] ?? 200);
    let seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
    for (let left = roundCount; left > 0; left -= ROUNDS_PER_FOLDER) {
      const count = Math.min(ROUNDS_PER_FOLDER, left);
      await runDeletionRounds({ seed: seed++, roundCount: count, report: print });
    }
  });
});

/** Writes directly, because the runner shows diagnostics only when a test has ended. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
