// Source: query-languages, "Continuous queries": killing the process at any instant leaves no interval missing or doubled.
// Own process: it is killed under load.
import { it } from 'node:test';
import { runContinuousRounds } from './continuous-rounds.js';

it('continuous queries of a killed server compute every interval once', {
  timeout: 180_000,
}, async (t) => {
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  await runContinuousRounds({ seed, roundCount: 5, report: (line) => t.diagnostic(line) });
});
