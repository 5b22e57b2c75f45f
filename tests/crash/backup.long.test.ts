// Source: docs/formats/backup.md, "Consistency". PLINTH_CRASH_ROUNDS and PLINTH_CRASH_SEED set the number of rounds and their content.
import { it } from 'node:test';
import { runBackupRounds } from './backup-rounds.js';

it('each of many backups beside writers contains one moment of all writers', async () => {
  const roundCount = Number(process.env['PLINTH_CRASH_ROUNDS'] ?? 50);
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  // Written directly, because the runner shows diagnostics only when a test has ended.
  const report = (line: string): void => void process.stdout.write(`${line}\n`);
  await runBackupRounds({ seed, roundCount, report });
});
