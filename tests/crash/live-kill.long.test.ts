// Source: docs/LIVE-QUERIES.md. PLINTH_CRASH_ROUNDS and PLINTH_CRASH_SEED set the number of rounds and their content.
import { it } from 'node:test';
import { runLiveRounds } from './live-rounds.js';

it('live queries continue after hundreds of kills', async () => {
  const roundCount = Number(process.env['PLINTH_CRASH_ROUNDS'] ?? 200);
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  await runLiveRounds({
    ...{ seed, roundCount },
    report: (line) => void process.stdout.write(`${line}\n`),
  });
});
