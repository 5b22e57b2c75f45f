// Source: accounts, sections 5 and 19. A few rounds; the long test has two hundred.
import { it } from 'node:test';
import { runAccountsCrashRounds } from './accounts-crash-rounds.js';

it('nothing acknowledged is lost, made twice or half made when the server is killed', async (test) => {
  await runAccountsCrashRounds({ seed: 1, roundCount: 5, report: (line) => test.diagnostic(line) });
});
