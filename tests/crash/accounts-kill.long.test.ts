// Source: accounts, sections 5 and 19.
import { it } from 'node:test';
import { runAccountsCrashRounds } from './accounts-crash-rounds.js';

it('accounts survive two hundred kills', async (test) => {
  await runAccountsCrashRounds({
    seed: 7,
    roundCount: 200,
    report: (line) => test.diagnostic(line),
  });
});
