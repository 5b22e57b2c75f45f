// Source: docs/TESTING.md, "Kinds of tests": generated SQL and InfluxQL statements, valid and invalid, never cause a 500. The variables are those of
// fuzz.long.test.ts; 100,000 statements take about ten minutes.
import { describe, it } from 'node:test';
import { fuzz } from './fuzz-rounds.js';
import { statementRequest } from './statements/statement-requests.js';

describe('A server under generated statements', () => {
  it('never returns an internal error', async () => {
    const count = Number(process.env['PLINTH_FUZZ_REQUESTS'] ?? 100_000);
    const clientCount = Number(process.env['PLINTH_FUZZ_CLIENTS'] ?? 8);
    const seed = Number(process.env['PLINTH_FUZZ_SEED'] ?? Date.now() % 1_000_000);
    const isEnough = (sentCount: number): boolean => sentCount >= count;
    const report = (line: string): void => void process.stdout.write(`${line}\n`);
    report(`PLINTH_FUZZ_SEED=${seed}`);
    const request = statementRequest;
    await fuzz({ seed, clientCount, request, bytesShare: 0, isEnough, report });
  });
});
