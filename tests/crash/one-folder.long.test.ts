// Source: docs/adr/0075-data-folder-lock.md. PLINTH_CRASH_ROUNDS and PLINTH_CRASH_SEED set the number of rounds and their content.
import { describe, it } from 'node:test';
import { runFolderRounds } from './folder-rounds.js';

describe('Many servers that compete for one folder', () => {
  it('serve one at a time, with every acknowledged row once', async () => {
    const roundCount = Number(process.env['PLINTH_CRASH_ROUNDS'] ?? 50);
    const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
    // Written directly, because the runner shows diagnostics only when a test has ended.
    const report = (line: string): void => void process.stdout.write(`${line}\n`);
    await runFolderRounds({ seed, roundCount, report });
  });
});
