// As the short test, for minutes. PLINTH_FUZZ_SEC, PLINTH_FUZZ_SEED and PLINTH_FUZZ_CLIENTS choose how long, what, and how many at a time.
import { describe, it } from 'node:test';
import { fuzz } from './fuzz-rounds.js';

const ROUND_SEC = 30;

describe('A server under minutes of hostile requests', () => {
  it('answers each, stays up and serves the next client', async () => {
    const totalSec = Number(process.env['PLINTH_FUZZ_SEC'] ?? 180);
    let seed = Number(process.env['PLINTH_FUZZ_SEED'] ?? Date.now() % 1_000_000);
    const clientCount = Number(process.env['PLINTH_FUZZ_CLIENTS'] ?? 4);
    for (let leftSec = totalSec; leftSec > 0; leftSec -= ROUND_SEC) {
      const report = (line: string): void => void process.stdout.write(`${line}\n`);
      await fuzz({ seed: seed++, durationMs: ROUND_SEC * 1000, clientCount, report });
    }
  });
});
