// Source: docs/TESTING.md, "Kinds of tests": no crash, no hang, no undocumented 500 (tsdb-http, "Error model").
// Own process: the server has to survive.
import { describe, it } from 'node:test';
import type { Chance } from '../harness/index.js';
import { fuzz } from './fuzz-rounds.js';
import { BYTES_SHARE, hostileRequest } from './hostile-requests.js';

describe('A server under hostile requests', () => {
  it('responds to each, stays up and serves the next client', async (t) => {
    // The same seed in every run; the long test uses others.
    const seed = Number(process.env['PLINTH_FUZZ_SEED'] ?? 20_261_122);
    const endMs = Date.now() + 15_000;
    const isEnough = (): boolean => Date.now() >= endMs;
    const report = (line: string): void => t.diagnostic(line);
    const request = (chance: Chance) => hostileRequest(chance, 1);
    await fuzz({ seed, clientCount: 4, request, bytesShare: BYTES_SHARE, isEnough, report });
  });
});
