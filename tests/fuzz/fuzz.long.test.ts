// Like the short test, for minutes. PLINTH_FUZZ_REQUESTS, PLINTH_FUZZ_SEED and PLINTH_FUZZ_CLIENTS set the number of requests, the seed and
// the number of concurrent clients: 200,000 requests take about 20 minutes.
import { describe, it } from 'node:test';
import type { Chance } from '../harness/index.js';
import { fuzz } from './fuzz-rounds.js';
import { BYTES_SHARE, hostileRequest } from './hostile-requests.js';

/** After this number of requests a new server starts, so that both fresh and long-running servers are tested. */
const ROUND_REQUESTS = 10_000;
/** A hundred easy requests cost as much as a hard one, and reach other code. */
const HARD_SHARE = 0.02;

describe('A server under thousands of hostile requests', () => {
  it('responds to each, stays up and serves the next client', async () => {
    const totalCount = Number(process.env['PLINTH_FUZZ_REQUESTS'] ?? 20_000);
    const clientCount = Number(process.env['PLINTH_FUZZ_CLIENTS'] ?? 8);
    let seed = Number(process.env['PLINTH_FUZZ_SEED'] ?? Date.now() % 1_000_000);
    const report = (line: string): void => void process.stdout.write(`${line}\n`);
    for (let leftCount = totalCount; leftCount > 0; leftCount -= ROUND_REQUESTS) {
      const count = Math.min(leftCount, ROUND_REQUESTS);
      const isEnough = (sentCount: number): boolean => sentCount >= count;
      const request = (chance: Chance) => hostileRequest(chance, HARD_SHARE);
      const bytesShare = BYTES_SHARE;
      await fuzz({ seed: seed++, clientCount, request, bytesShare, isEnough, report });
    }
  });
});
