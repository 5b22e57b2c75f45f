// Source: docs/formats/backup.md, "Consistency". PLINTH_CRASH_SEED sets the content of the rounds.
// Own process: it copies and writes while the test's process writes and compares.
import { it } from 'node:test';
import { runBackupRounds } from './backup-rounds.js';

it('a backup beside writers contains one moment of all writers', async (context) => {
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  await runBackupRounds({ seed, roundCount: 4, report: (line) => context.diagnostic(line) });
});
