// Source: query-languages, "Continuous queries". PLINTH_CRASH_ROUNDS and PLINTH_CRASH_SEED set the number of rounds and their content.
import { it } from 'node:test';
import { runContinuousRounds } from './continuous-rounds.js';

it('continuous queries compute every interval once after hundreds of kills', async () => {
  const roundCount = Number(process.env['PLINTH_CRASH_ROUNDS'] ?? 200);
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  await runContinuousRounds({
    ...{ seed, roundCount },
    report: (line) => void process.stdout.write(`${line}\n`),
  });
});
