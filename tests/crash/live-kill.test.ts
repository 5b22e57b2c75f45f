// Source: docs/LIVE-QUERIES.md, "Resume a stream": no row is lost or repeated, whenever the server is killed.
// Own process: it is killed under load.
import { it } from 'node:test';
import { runLiveRounds } from './live-rounds.js';

it('live queries of a killed server continue without gap or duplicate', async (t) => {
  const seed = Number(process.env['PLINTH_CRASH_SEED'] ?? Date.now() % 1_000_000);
  await runLiveRounds({ seed, roundCount: 5, report: (line) => t.diagnostic(line) });
});
