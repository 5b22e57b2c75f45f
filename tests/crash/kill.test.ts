// Source: docs/DURABILITY.md, "Recovery": killing the process at any instant loses no acknowledged data.
// Own process: it is killed under load.
import { describe, it } from 'node:test';
import { runCrashRounds } from './crash-rounds.js';

describe('A server killed under load', () => {
  it('has every acknowledged point once and nothing half-written at the next start', async (t) => {
    const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
    await runCrashRounds({ seed, roundCount: 8, report: (line) => t.diagnostic(line) });
  });
});
