// Source: docs/STORAGE-ENGINE.md, "Deletion": hard deletion survives restarts, and the catalog and the files agree.
// Own process: it is killed under load.
import { describe, it } from 'node:test';
import { runDeletionRounds } from './deletion-rounds.js';

describe('A server killed while databases, tables and rows are deleted and restored', () => {
  it('keeps the result of the acknowledged requests, and no file of permanently deleted data', async (t) => {
    const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
    await runDeletionRounds({ seed, roundCount: 6, report: (line) => t.diagnostic(line) });
  });
});
