// Source: accounts, sections 5 and 19. A few rounds; the long test has two hundred.
// Own process: it is killed under load.
import { it } from 'node:test';
import { runAccountsCrashRounds } from './accounts-crash-rounds.js';

it('a kill never loses, duplicates or half-applies an acknowledged request', async (test) => {
  await runAccountsCrashRounds({ seed: 1, roundCount: 5, report: (line) => test.diagnostic(line) });
});
